import { request } from "node:https";
import type { Endpoint } from "./endpoint.ts";
import { EndpointProblem, type ResolvedAddress } from "./resolve-host.ts";

export interface PostOptions {
  readonly endpoint: Endpoint;
  /** Already judged: nothing else is connected to. */
  readonly addresses: readonly ResolvedAddress[];
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Buffer;
  /** From the first step to the end of the answer's head. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface PostAnswer {
  readonly status: number;
  readonly rawRetryAfter: string | undefined;
}

const maxHeaderBytes = 16 * 1024;

/**
 * One POST over TLS on a connection of its own. Only the status and one header of the answer are looked at: its body is not
 * read, a redirect is not followed.
 *
 * @throws EndpointProblem, or the system's error
 */
export function postOnce(options: PostOptions): Promise<PostAnswer> {
  const { endpoint, addresses, timeoutMs } = options;
  const [first] = addresses;
  if (!first) throw new TypeError("there is no address to post to");
  return new Promise((resolve, reject) => {
    const outgoing = request({
      method: "POST",
      host: endpoint.host,
      port: endpoint.port,
      path: `${endpoint.url.pathname}${endpoint.url.search}`,
      headers: { host: endpoint.url.host, ...options.headers },
      // A kept connection would outlive the judgement of its address.
      agent: false,
      maxHeaderSize: maxHeaderBytes,
      signal: options.signal,
      lookup(_host, { all }, answer) {
        if (all) answer(null, [...addresses]);
        else answer(null, first.address, first.family);
      },
    });
    const timer = setTimeout(
      () => outgoing.destroy(new EndpointProblem(`${endpoint.host} does not answer`)),
      timeoutMs,
    );
    outgoing.once("response", (incoming) => {
      clearTimeout(timer);
      // Whatever comes after the head is not for us.
      incoming.on("error", () => undefined);
      incoming.destroy();
      resolve({ status: incoming.statusCode ?? 0, rawRetryAfter: incoming.headers["retry-after"] });
    });
    outgoing.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    outgoing.end(options.body);
  });
}

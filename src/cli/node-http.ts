import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { UnreachableError } from "../client/answer-error.ts";
import type { HttpAnswer, HttpRequest, SendHttp } from "../client/rest.ts";

const maxAnswerBytes = 64 * 1024 * 1024;
/** Agents of our own: Node's global ones may be told by the environment to send through a proxy, and our requests carry a token. */
const httpAgent = new HttpAgent({ keepAlive: false });
const httpsAgent = new HttpsAgent({ keepAlive: false });

/** Sends over `node:http` or `node:https`, straight to the address, following no redirect. */
export const sendOverNode: SendHttp = (request: HttpRequest) =>
  new Promise<HttpAnswer>((resolve, reject) => {
    const fail = (error: Error): void => {
      clearTimeout(timer);
      reject(
        error instanceof UnreachableError
          ? error
          : new UnreachableError(`${new URL(request.url).origin} does not answer (${reasonOf(error)}).`),
      );
    };
    const isEncrypted = request.url.startsWith("https:");
    const outgoing = (isEncrypted ? httpsRequest : httpRequest)(request.url, {
      method: request.method,
      agent: isEncrypted ? httpsAgent : httpAgent,
      headers: {
        ...request.headers,
        ...(request.body === null ? {} : { "content-length": String(Buffer.byteLength(request.body)) }),
      },
    });
    const timer = setTimeout(() => {
      outgoing.destroy(new UnreachableError(`No answer in ${request.timeoutMs / 1000} s.`));
    }, request.timeoutMs);
    outgoing.on("error", fail);
    outgoing.on("response", (incoming) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      incoming.on("data", (chunk: Buffer) => {
        bytes += chunk.byteLength;
        if (bytes > maxAnswerBytes) outgoing.destroy(new UnreachableError("The answer is too large."));
        else chunks.push(chunk);
      });
      incoming.on("error", fail);
      incoming.on("end", () => {
        clearTimeout(timer);
        resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") });
      });
    });
    outgoing.end(request.body ?? undefined);
  });

function reasonOf(error: NodeJS.ErrnoException): string {
  return error.code ?? error.message;
}

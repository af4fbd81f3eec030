import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";

export interface RequestOptions {
  /** Sent as `Authorization: Bearer`; null: none. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Connect here instead of to the address of the URL. */
  readonly connectTo?: { readonly host?: string; readonly port?: number; readonly socketPath?: string };
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; null when it is none. */
  readonly json: any;
}

/** One request on a connection of its own; nothing is followed or retried. */
export async function request(
  base: string,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> {
  const url = new URL(base);
  const body = options.body === undefined ? null : JSON.stringify(options.body);
  const outgoing = httpRequest({
    host: url.hostname,
    port: url.port,
    ...options.connectTo,
    method,
    path,
    agent: false,
    headers: {
      host: url.host,
      ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
      ...(body === null
        ? {}
        : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }),
      ...options.headers,
    },
  });
  outgoing.end(body ?? undefined);
  const [answer] = await once(outgoing, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  return { status: answer.statusCode, headers: answer.headers, text, json: parsed(text) };
}

/** Sends bytes as they are and collects what comes back until the other side closes. */
export async function rawRequest(
  target: { readonly port: number; readonly host?: string },
  bytes: string | Buffer,
): Promise<string> {
  const socket: Socket = connect(target.port, target.host ?? "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(bytes);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  await once(socket, "close");
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

import { connect, type Socket } from "node:net";

/** A client of bytes: it sends exactly what it is told to, and collects what comes back. */
export interface RawClient {
  readonly socket: Socket;
  send(bytes: string | Buffer): void;
  text(): string;
  /** Resolves when what has come so far matches; rejects when the connection closes before. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with everything received when the connection has closed, in whatever way. */
  closed(): Promise<string>;
  destroy(): void;
}

export type RawTarget = { readonly port: number; readonly host?: string } | { readonly path: string };

export async function openRaw(target: RawTarget): Promise<RawClient> {
  const socket =
    "path" in target
      ? connect(target.path)
      : connect({ port: target.port, host: target.host ?? "127.0.0.1" });
  let text = "";
  let isClosed = false;
  const waiting = new Set<() => void>();
  const changed = (): void => {
    for (const wake of [...waiting]) wake();
  };
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    changed();
  });
  socket.on("error", changed);
  socket.on("close", () => {
    isClosed = true;
    changed();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });

  function wait(done: () => boolean): Promise<string> {
    return new Promise((resolve, reject) => {
      const wake = (): void => {
        if (!done() && !isClosed) return;
        waiting.delete(wake);
        if (done()) resolve(text);
        else reject(new Error(`closed after: ${JSON.stringify(text.slice(0, 500))}`));
      };
      waiting.add(wake);
      wake();
    });
  }
  return {
    socket,
    send: (bytes) => socket.write(bytes),
    text: () => text,
    until: (pattern) => wait(() => pattern.test(text)),
    closed: () => wait(() => isClosed),
    destroy: () => socket.destroy(),
  };
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The error body's code, or null when there is no JSON body. */
  readonly code: string | null;
}

/** Sends one request as bytes and reads its answer: until the body is complete, or the connection closes. */
export async function exchange(target: RawTarget, bytes: string | Buffer): Promise<RawAnswer> {
  const client = await openRaw(target);
  try {
    client.send(bytes);
    await client.until(/\r\n\r\n/);
    const length = /content-length: (\d+)/i.exec(client.text())?.[1];
    const isHead = typeof bytes === "string" && bytes.startsWith("HEAD ");
    if (length !== undefined && !isHead) await client.until(new RegExp(`\\r\\n\\r\\n[\\s\\S]{${length}}`));
    return parseAnswer(client.text());
  } finally {
    client.destroy();
  }
}

export function parseAnswer(text: string): RawAnswer {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const body = rest.join("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  let code: string | null = null;
  if (body.startsWith('{"type":"error"')) code = (JSON.parse(body) as { code: string }).code;
  return { status: Number(statusLine.split(" ")[1]), headers, body, code };
}

/** The bytes of a request. Header lines as given, in order; nothing is added but what makes it HTTP. */
export function rawRequest(requestLine: string, headers: readonly string[], body = ""): string {
  return `${requestLine} HTTP/1.1\r\n${headers.map((line) => `${line}\r\n`).join("")}\r\n${body}`;
}

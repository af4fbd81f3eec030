import { once } from "node:events";
import WebSocket from "ws";

/** Tests read fields of messages whose shape they assert. */
export type Message = any;

export interface SocketOptions {
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Query of the connect URL, with its `?`. */
  readonly query?: string;
  readonly path?: string;
}

export interface TestSocket {
  readonly messages: readonly Message[];
  /** The first message from the beginning that fits, also one that comes later. Rejects when the socket closes before. */
  waitFor(fits: (message: Message) => boolean): Promise<Message>;
  /** Sends a command with a `client_ref` and resolves with its reply, an error or not. */
  command(command: Record<string, unknown>): Promise<Message>;
  send(data: string | Buffer): void;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  close(): Promise<void>;
  readonly ws: WebSocket;
}

/** Opens the native socket and waits for its snapshot. Rejects with the HTTP status when the upgrade is refused. */
export async function openSocket(base: string, options: SocketOptions = {}): Promise<TestSocket> {
  const url = `${base.replace(/^http/, "ws")}${options.path ?? "/api/ws"}${options.query ?? ""}`;
  const ws = new WebSocket(url, {
    headers: {
      ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
      ...options.headers,
    },
  });
  const messages: Message[] = [];
  const listeners = new Set<() => void>();
  let closedWith: { code: number; reason: string } | null = null;
  let references = 0;
  const tell = () => {
    for (const listener of listeners) listener();
  };
  ws.on("message", (data) => {
    messages.push(JSON.parse(data.toString()));
    tell();
  });
  // Not `once`: that rejects on an error, and a refused upgrade is an error before it is a close.
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.once("close", (code, reason) => {
      closedWith = { code, reason: String(reason) };
      tell();
      resolve(closedWith);
    });
  });
  const refused = new Promise<never>((_, reject) => {
    ws.once("unexpected-response", (_request, response) => {
      reject(new Error(`the upgrade was refused: ${response.statusCode}`));
      response.destroy();
      ws.terminate();
    });
    ws.once("error", reject);
  });
  // After the handshake an error is told by the close.
  refused.catch(() => undefined);
  ws.on("error", () => undefined);

  function waitFor(fits: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = messages.find(fits);
        if (found === undefined && closedWith === null) return;
        listeners.delete(look);
        if (found !== undefined) resolve(found);
        else reject(new Error(`the socket closed (${closedWith?.code}) before the message came`));
      };
      listeners.add(look);
      look();
    });
  }

  await Promise.race([once(ws, "open"), refused]);
  await waitFor((message) => message.type === "snapshot");
  return {
    messages,
    waitFor,
    closed,
    ws,
    send: (data) => ws.send(data),
    command(command) {
      const reference = `r${++references}`;
      ws.send(JSON.stringify({ ...command, client_ref: reference }));
      return waitFor((message) => message.client_ref === reference);
    },
    async close() {
      ws.close();
      await closed;
    },
  };
}

import { once } from "node:events";
import WebSocket from "ws";

/** Tests read fields of messages whose shape they assert. */
export type Message = any;

/** A socket of JSON messages, of either dialect, that keeps all that came. */
export interface MessageSocket {
  readonly messages: readonly Message[];
  /** The first message from `from` on that fits, also one that comes later. Rejects when the socket closes before. */
  waitFor(fits: (message: Message) => boolean, from?: number): Promise<Message>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  close(): Promise<void>;
  readonly ws: WebSocket;
}

/** Resolves when the socket is open. Rejects with the HTTP status when the upgrade is refused. */
export async function openMessageSocket(
  url: string,
  { token, headers }: { readonly token?: string | null; readonly headers?: Readonly<Record<string, string>> },
): Promise<MessageSocket> {
  const ws = new WebSocket(url, {
    headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...headers },
  });
  const messages: Message[] = [];
  const listeners = new Set<() => void>();
  let closedWith: { code: number; reason: string } | null = null;
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  ws.on("message", (data) => {
    messages.push(JSON.parse(data.toString()));
    tell();
  });
  // Not `once` of node:events: that rejects on an error, and a refused upgrade is an error before it is a close.
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

  await Promise.race([once(ws, "open"), refused]);
  return {
    messages,
    waitFor: (fits, from = 0) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = messages.slice(from).find(fits);
          if (found === undefined && closedWith === null) return;
          listeners.delete(look);
          if (found !== undefined) resolve(found);
          else reject(new Error(`the socket closed (${closedWith?.code}) before the message came`));
        };
        listeners.add(look);
        look();
      }),
    closed,
    async close() {
      ws.close();
      await closed;
    },
    ws,
  };
}

export interface SocketOptions {
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Query of the connect URL, with its `?`. */
  readonly query?: string;
  readonly path?: string;
}

export interface TestSocket extends MessageSocket {
  /** Sends a command with a `client_ref` and resolves with its reply, an error or not. */
  command(command: Record<string, unknown>): Promise<Message>;
  send(data: string | Buffer): void;
}

/** Opens the native socket and waits for its snapshot. Rejects with the HTTP status when the upgrade is refused. */
export async function openSocket(base: string, options: SocketOptions = {}): Promise<TestSocket> {
  const url = `${base.replace(/^http/, "ws")}${options.path ?? "/api/ws"}${options.query ?? ""}`;
  const socket = await openMessageSocket(url, options);
  let references = 0;
  await socket.waitFor((message) => message.type === "snapshot");
  return {
    ...socket,
    send: (data) => socket.ws.send(data),
    command(command) {
      const reference = `r${++references}`;
      socket.ws.send(JSON.stringify({ ...command, client_ref: reference }));
      return socket.waitFor((message) => message.client_ref === reference);
    },
  };
}

import { once } from "node:events";
import WebSocket from "ws";
import type { Message } from "./socket.ts";

export interface MewSocket {
  readonly messages: readonly Message[];
  /** The first message from `from` on that fits, also one that comes later. Rejects when the socket closes before. */
  waitFor(fits: (message: Message) => boolean, from?: number): Promise<Message>;
  /** Sends, and resolves with the first message of one of these types that comes after it. */
  ask(message: Record<string, unknown>, ...types: string[]): Promise<Message>;
  /** Sends and resolves when all that was sent before has been answered. */
  settle(): Promise<void>;
  send(message: Record<string, unknown> | string | Buffer): void;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  close(): Promise<void>;
  /** Cuts the connection without a close frame. */
  cut(): Promise<void>;
  readonly ws: WebSocket;
}

export interface MewSocketOptions {
  readonly token?: string | null;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The spelling that `settle` asks in. */
  readonly spelling?: "camel" | "snake";
}

/** Opens a socket of the mew dialect. Nothing comes before something was sent. */
export async function openMew(base: string, options: MewSocketOptions = {}): Promise<MewSocket> {
  const ws = new WebSocket(`${base.replace(/^http/, "ws")}${options.path ?? "/mew"}`, {
    headers: {
      ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
      ...options.headers,
    },
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
  refused.catch(() => undefined);
  ws.on("error", () => undefined);

  function waitFor(fits: (message: Message) => boolean, from = 0): Promise<Message> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = messages.slice(from).find(fits);
        if (found === undefined && closedWith === null) return;
        listeners.delete(look);
        if (found !== undefined) resolve(found);
        else reject(new Error(`the socket closed (${closedWith?.code}) before the message came`));
      };
      listeners.add(look);
      look();
    });
  }
  function send(message: Record<string, unknown> | string | Buffer): void {
    ws.send(typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message));
  }

  await Promise.race([once(ws, "open"), refused]);
  return {
    messages,
    waitFor,
    send,
    closed,
    ws,
    ask(message, ...types) {
      const from = messages.length;
      send(message);
      return waitFor((each) => types.includes(each.type), from);
    },
    async settle() {
      const from = messages.length;
      const camel = options.spelling !== "snake";
      send({ type: camel ? "Ping" : "ping" });
      await waitFor((each) => each.type === (camel ? "Pong" : "pong"), from);
    },
    async close() {
      ws.close();
      await closed;
    },
    async cut() {
      ws.terminate();
      await closed;
    },
  };
}

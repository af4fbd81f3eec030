import { type Message, type MessageSocket, openMessageSocket } from "./socket.ts";

export interface MewSocket extends MessageSocket {
  /** Sends, and resolves with the first message of one of these types that comes after it. */
  ask(message: Record<string, unknown>, ...types: string[]): Promise<Message>;
  /** Sends and resolves when all that was sent before has been answered. */
  settle(): Promise<void>;
  send(message: Record<string, unknown> | string | Buffer): void;
  /** Cuts the connection without a close frame. */
  cut(): Promise<void>;
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
  const url = `${base.replace(/^http/, "ws")}${options.path ?? "/mew"}`;
  const socket = await openMessageSocket(url, options);
  const { ws, messages, waitFor } = socket;
  function send(message: Record<string, unknown> | string | Buffer): void {
    ws.send(typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message));
  }
  return {
    ...socket,
    send,
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
    async cut() {
      ws.terminate();
      await socket.closed;
    },
  };
}

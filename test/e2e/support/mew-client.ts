import { once } from "node:events";
import WebSocket from "ws";
import type { TestDaemon } from "../../helpers/daemon.ts";
import type { Message } from "../../helpers/socket.ts";

// A client written from the dialect's document alone: it shares no code with the daemon, and speaks it in both spellings.

export type Spelling = "camel" | "snake";

const patienceMs = 60_000;

const snake = (tag: string): string => tag.replace(/(?!^)([A-Z])/g, "_$1").toLowerCase();

export class MewClient {
  readonly messages: Message[] = [];
  readonly #spelling: Spelling;
  readonly #ws: WebSocket;
  #woken: () => void = () => undefined;
  /** Messages before this were waited for already. */
  #read = 0;

  private constructor(ws: WebSocket, spelling: Spelling) {
    this.#ws = ws;
    this.#spelling = spelling;
    ws.on("message", (data, isBinary) => {
      if (isBinary) throw new Error("a binary frame");
      this.messages.push(JSON.parse(data.toString()));
      this.#woken();
    });
    ws.on("close", () => this.#woken());
  }

  static async connect(daemon: TestDaemon, spelling: Spelling, path = "/mew"): Promise<MewClient> {
    const ws = new WebSocket(`${daemon.url.replace("http", "ws")}${path}?token=${daemon.token}`);
    const client = new MewClient(ws, spelling);
    await once(ws, "open");
    return client;
  }

  /** A tag of the document in the spelling of this client. */
  tag(tag: string): string {
    return this.#spelling === "camel" ? tag : snake(tag);
  }

  send(tag: string, fields: object = {}): void {
    this.#ws.send(JSON.stringify({ type: this.tag(tag), ...fields }));
  }
  sendRaw(data: string | Buffer): void {
    this.#ws.send(data);
  }

  /** The next message of a type, passing over others; those that were passed over are gone for later waits. */
  async next(tag: string, fits: (message: Message) => boolean = () => true): Promise<Message> {
    const wanted = this.tag(tag);
    const endMs = Date.now() + patienceMs;
    for (;;) {
      while (this.#read < this.messages.length) {
        const message = this.messages[this.#read];
        this.#read += 1;
        if (message.type === wanted && fits(message)) return message;
      }
      const leftMs = endMs - Date.now();
      if (this.#ws.readyState !== WebSocket.OPEN || leftMs <= 0)
        throw new Error(`no ${wanted} came; the last were ${JSON.stringify(this.messages.slice(-8))}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#woken = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
  event(tag: string, fits: (event: Message) => boolean = () => true): Promise<Message> {
    const wanted = this.tag(tag);
    return this.next("Provider", ({ event }) => event.type === wanted && fits(event));
  }
  /** The end of the turn that runs. */
  turnEnd(): Promise<Message> {
    return this.event("MessageEnd", ({ finish }) => finish === "stop");
  }
  async ask(tag: string, fields: object, answer: string): Promise<Message> {
    this.send(tag, fields);
    return this.next(answer);
  }

  /** The texts on this client's screen, by part: the newest history, and what came behind it. */
  screen(): ReadonlyMap<string, string> {
    const tag = this.#spelling === "camel" ? "SessionHistory" : "session_history_page";
    const at = this.messages.findLastIndex((message) => message.type === tag);
    const texts = new Map<string, string>();
    for (const { role, parts } of this.messages[at]?.messages ?? [])
      for (const part of parts) if (role === "assistant" && "text" in part) texts.set(part.id, part.text);
    for (const { type, event } of this.messages.slice(at + 1)) {
      if (type !== this.tag("Provider")) continue;
      if (event.type === this.tag("PartStart") && "text" in event.part)
        texts.set(event.part.id, event.part.text);
      if (event.type !== this.tag("PartDelta")) continue;
      const before = texts.get(event.part_id);
      if (before === undefined) throw new Error("a delta for a part that is not on the screen");
      texts.set(event.part_id, before + event.delta);
    }
    return texts;
  }

  /** What was sent as history on the way to here. */
  history(): Message[] {
    const tag = this.#spelling === "camel" ? "SessionHistory" : "session_history_page";
    const last = this.messages.findLast((message) => message.type === tag);
    if (!last) throw new Error("no history came");
    return last.messages;
  }

  async close(): Promise<void> {
    if (this.#ws.readyState === WebSocket.CLOSED) return;
    const closed = once(this.#ws, "close");
    this.#ws.close();
    await closed;
  }
}

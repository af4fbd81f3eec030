import type { Readable, Writable } from "node:stream";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { acpLimits } from "./acp-limits.ts";

export interface MessageStreamOptions {
  readonly input: Writable;
  readonly output: Readable;
  /** A notification; these do not pass through the SDK, so that their order stays and none is checked twice. */
  readonly onNotification: (method: string, params: unknown, bytes: number) => void;
  /** The agent sent what no agent sends; the connection is over. A sentence without what it sent. */
  readonly onBroken: (problem: string) => void;
}

export interface MessageStream {
  /** For the SDK: requests and answers of the agent, and what we write to it. */
  readonly stream: Stream;
  /** No more is read while it holds; released when it does not. */
  hold(held: boolean): void;
  /** Ends both directions. */
  close(): void;
}

const newline = 0x0a;

type Raw = Readonly<Record<string, unknown>>;

/**
 * Cuts an agent's output into messages, one JSON object a line (ACP, "Transports"). Memory is bounded: by the length of a
 * line, by not reading while much is undone, and by not writing to an agent that does not read. Stray lines are skipped,
 * up to a bound; answers to what nobody asked are dropped.
 */
export function createMessageStream(options: MessageStreamOptions): MessageStream {
  const { input, output } = options;
  const ready: AnyMessage[] = [];
  /** Ids of our requests that have no answer yet. */
  const asked = new Set<string | number>();
  /** Requests of the agent by id, with their bytes. One id may be used by several at a time. */
  const open = new Map<string | number, number[]>();
  let openRequests = 0;
  let openBytes = 0;
  let wake: (() => void) | null = null;
  let held = false;
  let over = false;
  /** The beginning of a line whose end has not come: the first `partBytes` of it. */
  let part = Buffer.alloc(0);
  let partBytes = 0;
  let strayLines = 0;
  let strayBytes = 0;

  function flow(): void {
    const full =
      held ||
      ready.length > acpLimits.waitingMessages ||
      openRequests > acpLimits.openRequests ||
      openBytes > acpLimits.openRequestBytes;
    if (full) output.pause();
    else if (output.isPaused()) output.resume();
  }

  function broken(problem: string): void {
    if (over) return;
    close();
    options.onBroken(problem);
  }

  function close(): void {
    over = true;
    part = Buffer.alloc(0);
    ready.length = 0;
    open.clear();
    output.removeListener("data", take);
    output.resume();
    wake?.();
  }

  function stray(bytes: number): void {
    strayLines += 1;
    strayBytes += bytes;
    if (strayLines > acpLimits.strayLines || strayBytes > acpLimits.strayBytes)
      broken("it prints what is no message of the Agent Client Protocol");
  }

  function deliver(line: Buffer): void {
    const text = line.toString("utf8").trim();
    if (text === "") return;
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      stray(line.length);
      return;
    }
    // A batch (JSON-RPC 2.0, section 6); its requests are answered one by one.
    const isBatch =
      Array.isArray(message) && message.length > 0 && message.length <= acpLimits.waitingMessages;
    const messages: readonly unknown[] = isBatch ? (message as readonly unknown[]) : [message];
    const bytes = Math.ceil(line.length / messages.length);
    for (const each of messages) deliverOne(each, bytes);
  }

  function deliverOne(message: unknown, bytes: number): void {
    if (over) return;
    if (!isRaw(message) || message.jsonrpc !== "2.0") {
      stray(bytes);
      return;
    }
    const { id, method } = message;
    const hasId = typeof id === "string" || typeof id === "number";
    if (typeof method === "string" && !hasId) {
      if (id === undefined && method !== "$/cancel_request")
        options.onNotification(method, message.params, bytes);
      else if (id === undefined) pass(message);
      else stray(bytes);
    } else if (typeof method === "string") {
      openRequests += 1;
      openBytes += bytes;
      if (hasId) open.set(id, [...(open.get(id) ?? []), bytes]);
      pass(message);
    } else if (hasId && asked.delete(id)) pass(message);
    else stray(bytes);
  }

  function pass(message: Raw): void {
    // The shape is checked again by the SDK, which refuses what is no message.
    ready.push(message as unknown as AnyMessage);
    wake?.();
  }

  function take(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1 && !over; at = chunk.indexOf(newline, from)) {
      const line = chunk.subarray(from, at);
      from = at + 1;
      if (partBytes + line.length > acpLimits.lineBytes) {
        tooLong();
        return;
      }
      if (partBytes === 0) deliver(line);
      else {
        keep(line);
        const whole = part.subarray(0, partBytes);
        part = Buffer.alloc(0);
        partBytes = 0;
        deliver(whole);
      }
    }
    if (over) return;
    const rest = chunk.subarray(from);
    if (partBytes + rest.length > acpLimits.lineBytes) {
      tooLong();
      return;
    }
    keep(rest);
    flow();
  }

  /** In one piece that grows: a line that comes byte by byte must not cost an object a byte. */
  function keep(rest: Buffer): void {
    if (rest.length === 0) return;
    if (partBytes + rest.length > part.length) {
      const grown = Buffer.allocUnsafe(Math.max(64 * 1024, part.length * 2, partBytes + rest.length));
      part.copy(grown, 0, 0, partBytes);
      part = grown;
    }
    rest.copy(part, partBytes);
    partBytes += rest.length;
  }

  function answered(id: unknown): void {
    openRequests = Math.max(0, openRequests - 1);
    if (typeof id !== "string" && typeof id !== "number") return;
    const [bytes = 0, ...others] = open.get(id) ?? [];
    openBytes -= bytes;
    if (others.length === 0) open.delete(id);
    else open.set(id, others);
  }

  function tooLong(): void {
    broken(`it sent a message of more than ${acpLimits.lineBytes / (1024 * 1024)} MiB`);
  }

  output.on("data", take);
  const readable = new ReadableStream<AnyMessage>(
    {
      async pull(controller) {
        while (ready.length === 0 && !over)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        wake = null;
        const message = ready.shift();
        if (message) controller.enqueue(message);
        else controller.close();
        if (!over) flow();
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );

  async function write(message: AnyMessage): Promise<void> {
    const line = `${JSON.stringify(message)}\n`;
    const { id, method } = message as unknown as Raw;
    if (typeof method !== "string") {
      answered(id);
      flow();
    } else if (typeof id === "string" || typeof id === "number") asked.add(id);
    if (input.writableLength + line.length > acpLimits.unsentBytes) {
      broken("it does not read what it is sent");
      return;
    }
    // Not waited for: an agent that does not read is found by the bound above, or by the time that a request may take.
    if (!over && input.writable) input.write(line);
  }

  return {
    stream: { readable, writable: new WritableStream<AnyMessage>({ write }) },
    hold(next) {
      held = next;
      if (!over) flow();
    },
    close,
  };
}

function isRaw(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

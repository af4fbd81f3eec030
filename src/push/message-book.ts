import { randomBytes } from "node:crypto";

/** What an id in a push stands for. */
export interface Message {
  readonly subscription: string;
  readonly device: string;
  /** Tags that it was sent about. */
  readonly tell: readonly string[];
  /** Monotonic milliseconds. */
  expiresAtMs: number;
  /** What the first fetch was given: a browser whose answer was lost asks again and gets the same. */
  given: readonly string[] | null;
}

/** The ids of pushes: random, of one device, short lived, and for one fetch (which may be repeated for a minute). */
export interface MessageBook {
  /** Returns the id: 32 hex digits. */
  add(message: Pick<Message, "subscription" | "device" | "tell">, nowMs: number): string;
  /** Null for an id that is unknown, too old, or another device's: one answer. */
  take(id: string, device: string, nowMs: number): Message | null;
  /** Forgets the ids of a subscription. */
  drop(subscription: string): void;
}

/** How long a phone may be off and still be told when it is back; also for how long push services keep a message. */
export const messageTtlMs = 12 * 60 * 60_000;
const repeatMs = 60_000;
const maxPerSubscription = 16;

export function createMessageBook(): MessageBook {
  const messages = new Map<string, Message>();

  function drop(subscription: string, keep: number): void {
    const ids = [...messages].filter(([, each]) => each.subscription === subscription).map(([id]) => id);
    for (const id of ids.slice(0, Math.max(0, ids.length - keep))) messages.delete(id);
  }

  return {
    add({ subscription, device, tell }, nowMs) {
      for (const [id, { expiresAtMs }] of messages) if (expiresAtMs <= nowMs) messages.delete(id);
      drop(subscription, maxPerSubscription - 1);
      const id = randomBytes(16).toString("hex");
      messages.set(id, { subscription, device, tell, expiresAtMs: nowMs + messageTtlMs, given: null });
      return id;
    },
    take(id, device, nowMs) {
      const message = messages.get(id);
      if (!message || message.device !== device || message.expiresAtMs <= nowMs) return null;
      if (message.given === null) message.expiresAtMs = nowMs + repeatMs;
      return message;
    },
    drop: (subscription) => drop(subscription, 0),
  };
}

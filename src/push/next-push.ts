import type { PushKind } from "../protocol/push.ts";
import type { Note } from "./notes.ts";

/** One subscription as the decision sees it. */
export interface Delivery {
  readonly device: string;
  readonly kinds: ReadonlySet<PushKind>;
  /** Monotonic milliseconds: when the subscription was made, or the daemon started. */
  readonly sinceMs: number;
  /** Tags that the push service has taken a message about. */
  readonly told: ReadonlySet<string>;
  /** Tags that the browser has fetched, and so may show. */
  readonly shown: ReadonlySet<string>;
  /** A message is on its way. */
  readonly sending: boolean;
  /** Monotonic milliseconds before which nothing is sent: pace, or back-off after a failure. */
  readonly quietUntilMs: number;
}

export type Step =
  | { readonly kind: "rest" }
  | { readonly kind: "wait"; readonly untilMs: number }
  /** `tell` is empty when the message is only about what was answered. */
  | { readonly kind: "send"; readonly tell: readonly string[]; readonly urgent: boolean };

/**
 * When a note counts as left alone by everybody; Infinity where the subscription does not want it. A request is told when
 * nobody has answered it for `afterMs`. A turn's end is told when nobody has gone on with the agent for as long, and only
 * if the turn took that long too, or the device itself asked for it: who watched a short turn knows how it ended. What
 * ended before the subscription was made was seen by who made it.
 */
function dueAtMs(
  note: Note,
  { device, kinds, sinceMs }: Pick<Delivery, "device" | "kinds" | "sinceMs">,
  afterMs: number,
): number {
  const never = Number.POSITIVE_INFINITY;
  if (note.kind === "request")
    return kinds.has("requests") ? Math.max(note.sinceMs, sinceMs) + afterMs : never;
  if (!kinds.has("turns") || note.sinceMs < sinceMs) return never;
  return note.tookMs >= afterMs || note.askedBy === device ? note.sinceMs + afterMs : never;
}

/**
 * What to do for a subscription now. All that is due goes into one message. A request that was answered elsewhere is worth
 * a message of its own if the browser may show it still; the end of a turn is not.
 */
export function nextStep(
  delivery: Delivery,
  open: ReadonlyMap<string, Note>,
  { afterMs, nowMs }: { readonly afterMs: number; readonly nowMs: number },
): Step {
  if (delivery.sending) return { kind: "rest" };
  const tell: string[] = [];
  let urgent = false;
  let nextMs = Number.POSITIVE_INFINITY;
  for (const [tag, note] of open) {
    if (delivery.told.has(tag)) continue;
    const dueMs = dueAtMs(note, delivery, afterMs);
    if (dueMs > nowMs) nextMs = Math.min(nextMs, dueMs);
    else {
      tell.push(tag);
      urgent ||= note.kind === "request";
    }
  }
  const hasStale = [...delivery.shown].some((tag) => tag.startsWith("request-") && !open.has(tag));
  if (tell.length === 0 && !hasStale)
    return nextMs === Number.POSITIVE_INFINITY ? { kind: "rest" } : { kind: "wait", untilMs: nextMs };
  if (nowMs < delivery.quietUntilMs) return { kind: "wait", untilMs: delivery.quietUntilMs };
  return { kind: "send", tell, urgent };
}

const burst = 6;
const refillMs = 15_000;
const spacingMs = 1_000;

/** How fast one subscription may be sent to: a few at once, then one in 15 s. What comes faster shares a message. */
export interface Pace {
  readonly tokens: number;
  readonly atMs: number;
}
export const fullPace: Pace = { tokens: burst, atMs: 0 };

/** The pace after a message at `nowMs`, and when the next may follow. */
export function paceAfter(pace: Pace, nowMs: number): { readonly pace: Pace; readonly quietUntilMs: number } {
  const refilled = Math.min(burst, pace.tokens + (nowMs - pace.atMs) / refillMs);
  const tokens = Math.max(0, refilled - 1);
  const waitMs = tokens >= 1 ? spacingMs : Math.max(spacingMs, (1 - tokens) * refillMs);
  return { pace: { tokens, atMs: nowMs }, quietUntilMs: nowMs + waitMs };
}

import { createHash, randomInt } from "node:crypto";
import { type Clock, toTime } from "../lib/clock.ts";
import type { PushKind, PushPayload, PushSubscription } from "../protocol/push.ts";
import { backOffMs, type PushOutcome } from "./judge-answer.ts";
import type { MessageBook } from "./message-book.ts";
import { type Delivery, fullPace, nextStep, type Pace, paceAfter, type Step } from "./next-push.ts";
import type { Note, NoteChange } from "./notes.ts";
import type { StoredSubscription } from "./push-file.ts";

export interface Outgoing {
  readonly subscription: StoredSubscription;
  readonly payload: string;
  readonly urgent: boolean;
  readonly topic: string;
  readonly signal: AbortSignal;
}

export interface CourierOptions {
  readonly open: ReadonlyMap<string, Note>;
  readonly messages: MessageBook;
  /** Never rejects. */
  readonly send: (outgoing: Outgoing) => Promise<PushOutcome>;
  /** How long something is left alone before it is told. */
  readonly afterMs: () => number;
  /** A device that is not is left alone, and told later. */
  readonly mayReach: (device: string) => boolean;
  /** The push service does not know a subscription any more, or failed for a week. */
  readonly onGone: (subscription: StoredSubscription, why: string) => void;
  readonly clock: Clock;
}

/** Sends to each subscription what is due, at its pace, and notes what its browser knows. */
export interface Courier {
  /** Begins with a subscription, or takes over other kinds for one that it has. */
  add(subscription: StoredSubscription): void;
  /** Ends one at once: what is on its way is broken off. */
  remove(id: string): void;
  /** Something was opened or closed, or devices became reachable (null). Returns at once. */
  wake(change: NoteChange | null): void;
  /** What the browser of a subscription has yet to show of what it was told and of `tell`; from now on it counts as shown. */
  give(id: string, tell: readonly string[]): readonly string[];
  /** Tags that may stay on the browser's screen. */
  stays(id: string): readonly string[];
  view(subscription: StoredSubscription): PushSubscription;
  close(): void;
}

interface Entry extends Delivery {
  stored: StoredSubscription;
  kinds: ReadonlySet<PushKind>;
  readonly told: Set<string>;
  readonly shown: Set<string>;
  sending: boolean;
  quietUntilMs: number;
  pace: Pace;
  failures: number;
  failingSinceMs: number | null;
  lastSent: string | null;
  problem: string | null;
  readonly ending: AbortController;
}

/** Push services that do not answer hold a place for twenty seconds: one device never holds more than two. */
const maxInFlight = 32;
const maxInFlightPerDevice = 2;
const giveUpAfterMs = 7 * 24 * 60 * 60_000;
const maxTimerMs = 60_000;
/** A look goes over all subscriptions and all that is open: a flood of changes costs a few of them a second. */
const burstMs = 200;

export function createCourier(options: CourierOptions): Courier {
  const { open, messages, clock } = options;
  const entries = new Map<string, Entry>();
  let inFlight = 0;
  const inFlightOf = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;
  let timerAtMs = 0;
  let closed = false;

  /** Looks at `atMs`, or earlier if that was wanted before. */
  function lookAt(atMs: number): void {
    if (closed || entries.size === 0 || (timer && timerAtMs <= atMs)) return;
    if (timer) clearTimeout(timer);
    timerAtMs = atMs;
    const delayMs = Math.min(Math.max(atMs - clock.monotonicNow(), 0), maxTimerMs);
    timer = setTimeout(look, delayMs).unref();
  }
  /** Soon, not at once: what comes in a burst is looked at together. */
  const lookSoon = (): void => lookAt(clock.monotonicNow() + burstMs);

  /** Takes every step that is due now, and comes back when the next one is. */
  function look(): void {
    timer = null;
    const nowMs = clock.monotonicNow();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const entry of [...entries.values()]) {
      // Whoever finishes looks again, at those that waited longest first.
      if (inFlight >= maxInFlight) return;
      if (entry.sending || isBusy(entry.device)) continue;
      if (nowMs < entry.quietUntilMs) {
        nextMs = Math.min(nextMs, entry.quietUntilMs);
        continue;
      }
      forgetUnshown(entry);
      if (!options.mayReach(entry.device)) continue;
      const step = nextStep(entry, open, { afterMs: options.afterMs(), nowMs });
      if (step.kind === "wait") nextMs = Math.min(nextMs, step.untilMs);
      if (step.kind === "send") void send(entry, step);
    }
    if (nextMs < Number.POSITIVE_INFINITY) lookAt(nextMs);
  }

  const isBusy = (device: string): boolean => (inFlightOf.get(device) ?? 0) >= maxInFlightPerDevice;

  function count(device: string, by: 1 | -1): void {
    inFlight += by;
    const now = (inFlightOf.get(device) ?? 0) + by;
    if (now === 0) inFlightOf.delete(device);
    else inFlightOf.set(device, now);
  }

  /** What was over before the browser asked needs no word. */
  function forgetUnshown(entry: Entry): void {
    for (const tag of entry.told) if (!open.has(tag) && !entry.shown.has(tag)) entry.told.delete(tag);
  }

  async function send(entry: Entry, { tell, urgent }: Extract<Step, { kind: "send" }>): Promise<void> {
    const { stored } = entry;
    const stale = [...entry.shown].filter((tag) => !open.has(tag));
    const id = messages.add({ subscription: stored.id, device: stored.device, tell }, clock.monotonicNow());
    const payload: PushPayload = { id };
    entry.sending = true;
    count(stored.device, 1);
    // To the end of the row.
    entries.delete(stored.id);
    entries.set(stored.id, entry);
    const outcome = await options.send({
      subscription: stored,
      payload: JSON.stringify(payload),
      urgent,
      topic: topicOf(stored),
      signal: entry.ending.signal,
    });
    count(stored.device, -1);
    entry.sending = false;
    if (entries.get(stored.id) === entry) settle(entry, outcome, tell, stale);
    lookSoon();
  }

  function settle(
    entry: Entry,
    outcome: PushOutcome,
    tell: readonly string[],
    stale: readonly string[],
  ): void {
    const nowMs = clock.monotonicNow();
    if (outcome.kind === "gone") {
      options.onGone(entry.stored, "its push service does not know it any more");
      return;
    }
    if (outcome.kind === "accepted") {
      for (const tag of tell) entry.told.add(tag);
      for (const tag of stale) forget(entry, tag);
      Object.assign(entry, paceAfter(entry.pace, nowMs));
      Object.assign(entry, {
        failures: 0,
        failingSinceMs: null,
        problem: null,
        lastSent: toTime(clock.now()),
      });
      return;
    }
    entry.failures += 1;
    entry.failingSinceMs ??= nowMs;
    entry.problem = outcome.problem;
    entry.quietUntilMs = nowMs + backOffMs(entry.failures, outcome.retryAfterMs, randomInt(1_000) / 1_000);
    if (nowMs - entry.failingSinceMs > giveUpAfterMs)
      options.onGone(entry.stored, `nothing reached it for a week: ${outcome.problem}`);
  }

  function forget(entry: Entry, tag: string): void {
    entry.told.delete(tag);
    entry.shown.delete(tag);
  }

  return {
    add(subscription) {
      const kinds = new Set(subscription.kinds);
      const known = entries.get(subscription.id);
      if (known) Object.assign(known, { stored: subscription, kinds });
      else entries.set(subscription.id, newEntry(subscription, kinds, clock.monotonicNow()));
      lookSoon();
    },
    remove(id) {
      entries.get(id)?.ending.abort();
      entries.delete(id);
      messages.drop(id);
    },
    wake(change) {
      // Who reacted needs not be told that somebody did.
      if (change?.kind === "closed" && change.by !== null)
        for (const entry of entries.values())
          if (entry.device === change.by) for (const tag of change.tags) forget(entry, tag);
      lookSoon();
    },
    give(id, tell) {
      const entry = entries.get(id);
      if (!entry) return [];
      const given = [...new Set([...entry.told, ...tell])].filter(
        (tag) => open.has(tag) && !entry.shown.has(tag),
      );
      for (const tag of given) entry.shown.add(tag);
      return given;
    },
    stays(id) {
      const entry = entries.get(id);
      return entry ? [...open.keys()].filter((tag) => entry.told.has(tag) || entry.shown.has(tag)) : [];
    },
    view({ id, endpoint, kinds, created }) {
      const entry = entries.get(id);
      return {
        id,
        service: new URL(endpoint).host,
        kinds: [...kinds],
        created,
        last_sent: entry?.lastSent ?? null,
        problem: entry?.problem ?? null,
      };
    },
    close() {
      closed = true;
      if (timer) clearTimeout(timer);
      for (const { ending } of entries.values()) ending.abort();
      entries.clear();
    },
  };
}

function newEntry(stored: StoredSubscription, kinds: ReadonlySet<PushKind>, sinceMs: number): Entry {
  return {
    stored,
    device: stored.device,
    kinds,
    sinceMs,
    told: new Set(),
    shown: new Set(),
    sending: false,
    quietUntilMs: 0,
    pace: fullPace,
    failures: 0,
    failingSinceMs: null,
    lastSent: null,
    problem: null,
    ending: new AbortController(),
  };
}

/** At most 32 characters of base64url (RFC 8030 §5.4), the same for all messages of a subscription, and telling nothing. */
function topicOf({ id }: StoredSubscription): string {
  return createHash("sha256").update(id).digest("base64url").slice(0, 24);
}

import type { PermissionRequest, Question } from "../../src/protocol/objects.ts";
import type { Outcome } from "../state/store.ts";

/** Something that waits for a person. */
export type Waiting =
  | { readonly kind: "permission"; readonly request: PermissionRequest }
  | { readonly kind: "question"; readonly request: Question };

/** One card of the list. It belongs to one request and what was shown of it, for ever. */
export interface Held {
  readonly key: string;
  readonly waiting: Waiting;
  /** How and when it ended; null while it waits. */
  readonly end: {
    readonly atMs: number;
    readonly outcome: Outcome | null;
    /** The call is another one now and has a card of its own. */
    readonly isChanged: boolean;
  } | null;
}

/** A card whose request has ended keeps its place this long, so that nothing slides under a finger. */
export const keepEndedMs = 4_000;

/** A call that changed has another digest, and with it another card. */
function keyOf(waiting: Waiting): string {
  const { request_id } = waiting.request;
  return waiting.kind === "permission" ? `${request_id} ${waiting.request.digest}` : request_id;
}

/** What is open, in the order in which it came. */
export function waitingOf(
  pending: readonly PermissionRequest[],
  questions: readonly Question[],
): readonly Waiting[] {
  const all: Waiting[] = [
    ...pending.map((request): Waiting => ({ kind: "permission", request })),
    ...questions.map((request): Waiting => ({ kind: "question", request })),
  ];
  return all.sort((a, b) => (a.request.at < b.request.at ? -1 : a.request.at > b.request.at ? 1 : 0));
}

/**
 * The cards after what is open has changed. Cards never change their order: new ones come at the end, ended ones stay a
 * while and then go. Pure; yields `before` itself when nothing changes.
 */
export function holdRequests(
  before: readonly Held[],
  open: readonly Waiting[],
  outcomes: ReadonlyMap<string, Outcome>,
  nowMs: number,
): readonly Held[] {
  const openByKey = new Map(open.map((waiting) => [keyOf(waiting), waiting]));
  const openIds = new Set(open.map(({ request }) => request.request_id));
  const held: Held[] = [];
  for (const card of before) {
    const { key, waiting, end } = card;
    if (openByKey.has(key) && end === null) held.push(card);
    else if (end === null) {
      const id = waiting.request.request_id;
      const outcome = outcomes.get(id) ?? null;
      held.push({ key, waiting, end: { atMs: nowMs, outcome, isChanged: openIds.has(id) } });
    } else if (nowMs - end.atMs < keepEndedMs) held.push(card);
  }
  const known = new Set(held.map(({ key }) => key));
  for (const [key, waiting] of openByKey) if (!known.has(key)) held.push({ key, waiting, end: null });
  const isSame = held.length === before.length && held.every((card, index) => card === before[index]);
  return isSame ? before : held;
}

/** When the next ended card goes; null while all wait. */
export function nextRemovalMs(held: readonly Held[]): number | null {
  const ends = held.flatMap(({ end }) => (end === null ? [] : [end.atMs + keepEndedMs]));
  return ends.length === 0 ? null : Math.min(...ends);
}

import type { Transcript } from "./draft.ts";

type Turn = Transcript["turn"];

/** A turn of which nothing is known yet. */
export const noTurn = { id: null, at: null, usage: null, open: 0, askedAt: null, waitedMillis: 0 } as const;

/** Counts the time in which at least one request or question of the turn waits; those beside each other count once. */
export function withWait(turn: Turn, isAsked: boolean, at: string): Turn {
  if (turn === null || (!isAsked && turn.open === 0)) return turn;
  const open = turn.open + (isAsked ? 1 : -1);
  if (open > 0) return { ...turn, open, askedAt: turn.askedAt ?? at };
  const waitedMillis = turn.waitedMillis + millisBetween(turn.askedAt, at);
  return { ...turn, open, askedAt: null, waitedMillis };
}

/** From one moment to another (RFC 3339); 0 where the first is not known or the clock went back. */
export function millisBetween(from: string | null, to: string): number {
  const millis = from === null ? 0 : Date.parse(to) - Date.parse(from);
  return Number.isFinite(millis) ? Math.max(0, millis) : 0;
}

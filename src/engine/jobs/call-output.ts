import { count } from "./log-guard.ts";

/** At most this much is forwarded in 100 ms. */
export const windowBytes = 64 * 1024;
const windowMs = 100;
/** A reader this far behind is not caught up with: the middle is left out. */
const maxLagBytes = 4 * windowBytes;
/** After this much, a call's output is not forwarded any more until its end. */
export const maxForwardedBytes = 8 * 1024 * 1024;
/** What is shown of the end of a call whose output was too much. */
const lastPartBytes = windowBytes / 2;

/** What to do with the part of the log that was not forwarded yet. `skip` leaves out what lies before `to`. */
export type ForwardStep =
  | { readonly do: "forward"; readonly maxBytes: number }
  | { readonly do: "skip"; readonly to: number };

/** Bytes that may be forwarded now, after `elapsedMs` more. */
export function refill(budgetBytes: number, elapsedMs: number): number {
  return Math.min(windowBytes, budgetBytes + Math.floor((elapsedMs / windowMs) * windowBytes));
}

/**
 * Plans one look at a call's log: everything if it fits the budget; in order while the reader is not far behind; else a
 * first part, a gap and the last part. At the end (`ended`) nothing stays behind.
 */
export function planForward(facts: {
  readonly position: number;
  readonly size: number;
  readonly budgetBytes: number;
  readonly forwardedBytes: number;
  readonly ended: boolean;
}): ForwardStep[] {
  const { position, size, budgetBytes, ended } = facts;
  const behind = size - position;
  if (behind <= 0) return [];
  if (facts.forwardedBytes >= maxForwardedBytes)
    return ended ? lastPart(position, size, Math.min(behind, lastPartBytes)) : [];
  if (behind <= budgetBytes) return [{ do: "forward", maxBytes: behind }];
  if (ended) {
    const half = Math.min(lastPartBytes, Math.floor(behind / 2));
    return [{ do: "forward", maxBytes: half }, ...lastPart(position, size, half)];
  }
  if (budgetBytes < windowBytes / 2) return [];
  if (behind <= maxLagBytes) return [{ do: "forward", maxBytes: budgetBytes }];
  const half = Math.floor(budgetBytes / 2);
  return [{ do: "forward", maxBytes: half }, ...lastPart(position, size, half)];
}

function lastPart(position: number, size: number, bytes: number): ForwardStep[] {
  return [
    { do: "skip", to: Math.max(position, size - bytes) },
    { do: "forward", maxBytes: bytes },
  ];
}

/** Stands for output that was left out. */
export function leftOutMarker(bytes: number): string {
  return `\n[… ${count(bytes)} bytes left out …]\n`;
}

import { performance } from "node:perf_hooks";

/** Time as a value that is handed in. `now` may jump in either direction, `monotonicNow` never goes back. */
export interface Clock {
  /** Wall clock, epoch milliseconds. */
  now(): number;
  /** Milliseconds since some start, unaffected by changes of the wall clock. */
  monotonicNow(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
};

/** RFC 3339 in UTC with milliseconds. */
export function toTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Counts events in a sliding window; holds at most `max` times, whatever happens. */
export interface AttemptWindow {
  /** Notes an event and says true, or says false when `max` happened in the window already (that one is not noted). */
  tryAdd(nowMs: number): boolean;
  /** Milliseconds until there is room again; 0 when there is. */
  waitMs(nowMs: number): number;
}

/** `nowMs` must never go back: use the monotonic clock. */
export function createAttemptWindow(max: number, windowMs: number): AttemptWindow {
  /** A ring: the slot written next holds the oldest of the last `max` events. */
  const times: (number | null)[] = new Array<null>(max).fill(null);
  let next = 0;

  function waitMs(nowMs: number): number {
    const oldest = times[next] ?? null;
    return oldest === null ? 0 : Math.max(0, oldest + windowMs - nowMs);
  }

  return {
    waitMs,
    tryAdd(nowMs) {
      if (waitMs(nowMs) > 0) return false;
      times[next] = nowMs;
      next = (next + 1) % max;
      return true;
    },
  };
}

export interface TokenBucket {
  /** Takes one; false when none is left. */
  take(nowMs: number): boolean;
}

/** A bucket of `capacity` that fills at `perSecond`. Time that goes backwards adds nothing. */
export function createTokenBucket(options: { capacity: number; perSecond: number }): TokenBucket {
  let left = options.capacity;
  let filledAtMs: number | null = null;
  return {
    take(nowMs) {
      const elapsedMs = filledAtMs === null ? 0 : Math.max(0, nowMs - filledAtMs);
      filledAtMs = nowMs;
      left = Math.min(options.capacity, left + (elapsedMs / 1_000) * options.perSecond);
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}

export interface OccurrenceWindow {
  /** Notes one; true when `max` of them lie within the window. */
  note(nowMs: number): boolean;
}

/** Tells when something happened `max` times within `windowMs`. */
export function createOccurrenceWindow(options: { max: number; windowMs: number }): OccurrenceWindow {
  const times: number[] = [];
  return {
    note(nowMs) {
      times.push(nowMs);
      if (times.length > options.max) times.shift();
      const oldest = times[0] ?? nowMs;
      return times.length >= options.max && nowMs - oldest < options.windowMs;
    },
  };
}

export interface FloodOptions {
  /** So many refusals at once are borne; they are forgotten at `forgottenPerSecond`. */
  readonly borne: number;
  readonly forgottenPerSecond: number;
  /** Refusals in every second for so long are a flood, however few. */
  readonly sustainedMs: number;
}

/** Tells when refusing one command after the other no longer helps. `note` is called for each refusal; true: close. */
export function createFloodMeter(options: FloodOptions): OccurrenceWindow {
  const bucket = createTokenBucket({ capacity: options.borne, perSecond: options.forgottenPerSecond });
  let sinceMs: number | null = null;
  let lastMs = 0;
  return {
    note(nowMs) {
      if (sinceMs === null || nowMs - lastMs > 1_000) sinceMs = nowMs;
      lastMs = nowMs;
      return !bucket.take(nowMs) || nowMs - sinceMs >= options.sustainedMs;
    },
  };
}

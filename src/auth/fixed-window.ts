interface Window {
  startMs: number;
  count: number;
}

/**
 * Counts events per key in fixed windows, in a table that never grows beyond `maxKeys`: the oldest window goes first. The
 * clock is the caller's and should be monotonic.
 */
export class FixedWindow {
  readonly #maxKeys: number;
  readonly #windowMs: number;
  readonly #windows = new Map<string, Window>();

  constructor(options: { readonly maxKeys: number; readonly windowMs: number }) {
    this.#maxKeys = options.maxKeys;
    this.#windowMs = options.windowMs;
  }

  /** Milliseconds until `key` may try again; 0 when fewer than `limit` events were counted in its window. */
  waitMs(key: string, limit: number, nowMs: number): number {
    const window = this.#live(key, nowMs);
    if (window === undefined || window.count < limit) return 0;
    return Math.max(1, window.startMs + this.#windowMs - nowMs);
  }

  count(key: string, nowMs: number): void {
    const window = this.#live(key, nowMs);
    if (window !== undefined) {
      window.count += 1;
      return;
    }
    // Insertion order is the order of the windows' starts, because an expired key is deleted first.
    this.#windows.delete(key);
    if (this.#windows.size >= this.#maxKeys) {
      const oldest = this.#windows.keys().next();
      if (!oldest.done) this.#windows.delete(oldest.value);
    }
    this.#windows.set(key, { startMs: nowMs, count: 1 });
  }

  get size(): number {
    return this.#windows.size;
  }

  #live(key: string, nowMs: number): Window | undefined {
    const window = this.#windows.get(key);
    return window !== undefined && nowMs - window.startMs < this.#windowMs ? window : undefined;
  }
}

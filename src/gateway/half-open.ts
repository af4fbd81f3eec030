/** What may be told apart by the address it comes from; null shares no limit per address. */
export interface HalfOpenSocket {
  readonly halfOpenKey: string | null;
}

export interface HalfOpenOptions {
  readonly maxPerKey: number;
  /** As many may be there of one key while they are young: what many programs ask at once is on its way then. */
  readonly maxBurstPerKey: number;
  readonly maxTotal: number;
  /** How long a socket is young. */
  readonly youngMs: number;
}

/**
 * Sockets that have neither shown a valid credential nor are being served, oldest first. One too many takes the place of
 * the oldest, so that silent sockets never keep anybody out; one that has just come is given the time to say something,
 * at the cost of nobody but its own address.
 */
export class HalfOpenSockets<T extends HalfOpenSocket> {
  /** With the time at which each was added, in milliseconds. */
  readonly #all = new Map<T, number>();
  readonly #byKey = new Map<string, Set<T>>();
  /** Keys with more than `maxPerKey`. */
  readonly #overfull = new Set<string>();
  readonly #options: HalfOpenOptions;

  constructor(options: HalfOpenOptions) {
    this.#options = options;
  }

  /** Adds a socket as the youngest, and returns the one that must be closed for it. */
  add(socket: T, nowMs: number): T | null {
    this.delete(socket);
    const evicted = this.#inTheWay(socket.halfOpenKey, nowMs);
    if (evicted !== null) this.delete(evicted);
    this.#all.set(socket, nowMs);
    const key = socket.halfOpenKey;
    if (key === null) return evicted;
    const sameKey = (this.#byKey.get(key) ?? new Set<T>()).add(socket);
    this.#byKey.set(key, sameKey);
    if (sameKey.size > this.#options.maxPerKey) this.#overfull.add(key);
    return evicted;
  }

  delete(socket: T): void {
    if (!this.#all.delete(socket)) return;
    const key = socket.halfOpenKey;
    const sameKey = key === null ? undefined : this.#byKey.get(key);
    if (key === null || sameKey === undefined) return;
    sameKey.delete(socket);
    if (sameKey.size <= this.#options.maxPerKey) this.#overfull.delete(key);
    if (sameKey.size === 0) this.#byKey.delete(key);
  }

  /** Takes out those that are too many and not young any more, and returns them: they must be closed. */
  trim(nowMs: number): T[] {
    const evicted: T[] = [];
    for (const key of [...this.#overfull])
      for (const socket of [...(this.#byKey.get(key) ?? [])]) {
        if (!this.#overfull.has(key) || this.#isYoung(socket, nowMs)) break;
        this.delete(socket);
        evicted.push(socket);
      }
    return evicted;
  }

  get size(): number {
    return this.#all.size;
  }

  #inTheWay(key: string | null, nowMs: number): T | null {
    const { maxPerKey, maxBurstPerKey, maxTotal } = this.#options;
    const sameKey = key === null ? undefined : this.#byKey.get(key);
    if (sameKey !== undefined && sameKey.size >= maxPerKey) {
      const oldest = first(sameKey);
      const isFull = sameKey.size >= maxBurstPerKey || this.#all.size >= maxTotal;
      if (oldest !== null && (isFull || !this.#isYoung(oldest, nowMs))) return oldest;
    }
    if (this.#all.size < maxTotal) return null;
    const overfull = first(this.#overfull);
    return first((overfull === null ? undefined : this.#byKey.get(overfull)) ?? this.#all.keys());
  }

  #isYoung(socket: T, nowMs: number): boolean {
    return nowMs - (this.#all.get(socket) ?? 0) < this.#options.youngMs;
  }
}

function first<T>(values: Iterable<T>): T | null {
  for (const value of values) return value;
  return null;
}

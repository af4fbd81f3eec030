/** What may be told apart by the address it comes from; null shares no limit per address. */
export interface HalfOpenSocket {
  readonly halfOpenKey: string | null;
}

/**
 * Sockets that have neither shown a valid credential nor are being served, oldest first. One too many takes the place of
 * the oldest, so that silent sockets never keep anybody out.
 */
export class HalfOpenSockets<T extends HalfOpenSocket> {
  readonly #all = new Set<T>();
  readonly #byKey = new Map<string, Set<T>>();
  readonly #maxPerKey: number;
  readonly #maxTotal: number;

  constructor(options: { readonly maxPerKey: number; readonly maxTotal: number }) {
    this.#maxPerKey = options.maxPerKey;
    this.#maxTotal = options.maxTotal;
  }

  /** Adds a socket as the youngest, and returns the one that must be closed for it. */
  add(socket: T): T | null {
    this.delete(socket);
    const key = socket.halfOpenKey;
    const sameKey = key === null ? null : (this.#byKey.get(key) ?? new Set<T>());
    let evicted: T | null = null;
    if (sameKey !== null && sameKey.size >= this.#maxPerKey) evicted = first(sameKey);
    else if (this.#all.size >= this.#maxTotal) evicted = first(this.#all);
    if (evicted !== null) this.delete(evicted);
    this.#all.add(socket);
    if (key !== null && sameKey !== null) this.#byKey.set(key, sameKey.add(socket));
    return evicted;
  }

  delete(socket: T): void {
    if (!this.#all.delete(socket)) return;
    const key = socket.halfOpenKey;
    const sameKey = key === null ? undefined : this.#byKey.get(key);
    if (key === null || sameKey === undefined) return;
    sameKey.delete(socket);
    if (sameKey.size === 0) this.#byKey.delete(key);
  }

  get size(): number {
    return this.#all.size;
  }
}

function first<T>(set: ReadonlySet<T>): T | null {
  const { value, done } = set.values().next();
  return done ? null : value;
}

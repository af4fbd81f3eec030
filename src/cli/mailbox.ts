/** Messages in order, for one reader that takes its time. */
export interface Mailbox<T> {
  readonly put: (message: T) => void;
  /** The next message; waits for it. One `take` at a time. */
  take(): Promise<T>;
}

/** Unbounded: for what a daemon sends, which bounds that itself. */
export function createMailbox<T>(): Mailbox<T> {
  const kept: T[] = [];
  let waiting: ((message: T) => void) | null = null;
  return {
    put(message) {
      if (waiting === null) {
        kept.push(message);
        return;
      }
      const give = waiting;
      waiting = null;
      give(message);
    },
    take() {
      if (kept.length > 0) return Promise.resolve(kept.shift() as T);
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },
  };
}

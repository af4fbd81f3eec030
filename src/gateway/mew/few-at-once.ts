/** Runs work when it is its turn, in the order of the calls. */
export type FewAtOnce = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * At most `atOnce` at the same time. Between the end of one and the begin of the next the event loop goes round, so that
 * what many clients ask for at once delays everybody else by one of them, not by all.
 */
export function createFewAtOnce(atOnce: number): FewAtOnce {
  let running = 0;
  let waiting: (() => void)[] = [];
  let first = 0;

  function next(): void {
    const start = waiting[first];
    first += 1;
    if (start) {
      start();
      return;
    }
    waiting = [];
    first = 0;
    running -= 1;
  }

  return async (work) => {
    if (running < atOnce) running += 1;
    // Whoever has finished hands its place over, so that `running` stays as it is.
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      setImmediate(next);
    }
  };
}

/**
 * Makes a task that runs once at a time: who calls while it runs gets the run after that, shared with all who came
 * meanwhile. So whatever happened before a call is seen by the run that it waits for.
 */
export function coalesced(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  function start(): Promise<void> {
    const run = task().finally(() => {
      if (running === run) running = null;
    });
    running = run;
    return run;
  }

  return () => {
    if (!running) return start();
    next ??= running
      // Who waits for that run is told of its failure; this one only waits for its end.
      .catch(() => undefined)
      .then(() => {
        next = null;
        return start();
      });
    return next;
  };
}

/** Runs `work` on every item, at most `atOnce` at the same time. Rejects with the first failure. */
export async function forEachBounded<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  async function worker(): Promise<void> {
    for (let item = iterator.next(); !item.done; item = iterator.next()) await work(item.value);
  }
  await Promise.all(Array.from({ length: atOnce }, worker));
}

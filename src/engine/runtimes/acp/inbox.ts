/** Does what came in one after the other, in its order. */
export interface Inbox {
  push(task: () => Promise<void> | void): void;
  /** Resolves when everything that was pushed before has been done. */
  settled(): Promise<void>;
  readonly waiting: number;
}

/** So many in a row before others get a turn of the event loop. */
const inARow = 64;

/**
 * @param onError what a task threw; the ones behind it are done all the same
 * @param onDone called after each task
 */
export function createInbox(onError: (error: unknown) => void, onDone: () => void): Inbox {
  const tasks: (() => Promise<void> | void)[] = [];
  let running = false;

  async function run(): Promise<void> {
    running = true;
    let done = 0;
    for (let task = tasks.shift(); task; task = tasks.shift()) {
      try {
        await task();
      } catch (error) {
        onError(error);
      }
      onDone();
      done += 1;
      if (done % inARow === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    running = false;
  }

  function push(task: () => Promise<void> | void): void {
    tasks.push(task);
    if (!running) void run();
  }

  return {
    push,
    settled: () => new Promise((resolve) => push(resolve)),
    get waiting() {
      return tasks.length;
    },
  };
}

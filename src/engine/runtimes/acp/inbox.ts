/** Does what came in one after the other, in its order. */
export interface Inbox {
  /** @param bytes what it holds */
  push(task: () => Promise<void> | void, bytes?: number): void;
  /** Resolves when everything that was pushed before has been done. */
  settled(): Promise<void>;
  readonly waiting: number;
  /** Of those that wait and the one that is being done. */
  readonly waitingBytes: number;
}

/** So many in a row before others get a turn of the event loop. */
const inARow = 64;

/**
 * @param onError what a task threw; the ones behind it are done all the same
 * @param onDone called after each task
 */
export function createInbox(onError: (error: unknown) => void, onDone: () => void): Inbox {
  const tasks: { readonly task: () => Promise<void> | void; readonly bytes: number }[] = [];
  let waitingBytes = 0;
  let running = false;

  async function run(): Promise<void> {
    running = true;
    let done = 0;
    for (let next = tasks.shift(); next; next = tasks.shift()) {
      try {
        await next.task();
      } catch (error) {
        onError(error);
      }
      waitingBytes -= next.bytes;
      onDone();
      done += 1;
      if (done % inARow === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    running = false;
  }

  function push(task: () => Promise<void> | void, bytes = 0): void {
    tasks.push({ task, bytes });
    waitingBytes += bytes;
    if (!running) void run();
  }

  return {
    push,
    settled: () => new Promise((resolve) => push(resolve)),
    get waitingBytes() {
      return waitingBytes;
    },
    get waiting() {
      return tasks.length;
    },
  };
}

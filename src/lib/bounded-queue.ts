/** Thrown by `run` when too many tasks wait already; nothing of the task was done. */
export class QueueFullError extends Error {
  override readonly name = "QueueFullError";
}

export interface BoundedQueue {
  /** Runs `task` when all tasks before it have ended, whatever became of them. Rejects with `QueueFullError` when full. */
  run<T>(task: () => Promise<T> | T): Promise<T>;
  /** Resolves when everything that was queued so far has ended. Never rejects. */
  drained(): Promise<void>;
}

/** A queue of tasks that run one after the other, in the order they came; at most `maxWaiting` wait or run. */
export function createBoundedQueue(options: { readonly maxWaiting: number }): BoundedQueue {
  let tail: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  return {
    async run(task) {
      if (waiting >= options.maxWaiting) throw new QueueFullError("too many tasks are waiting");
      waiting += 1;
      const result = tail.then(task);
      // The caller of `run` handles the failure; the chain only needs to know that the task has ended.
      tail = result.then(
        () => undefined,
        () => undefined,
      );
      try {
        return await result;
      } finally {
        waiting -= 1;
      }
    },
    async drained() {
      await tail;
    },
  };
}

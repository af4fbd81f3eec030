import type { Log } from "../lib/log.ts";

export interface Closers {
  /** Adds a step that is taken before all that were added earlier: what was built last is taken down first. */
  add(name: string, close: () => Promise<void> | void): void;
  /** Takes the steps, each to its end or to its failure, within `deadlineMs` altogether. A second call waits for the first. */
  run(deadlineMs: number): Promise<void>;
}

/** The way down, built on the way up, so that a start that fails half-way undoes exactly what was done. */
export function createClosers(log: () => Log): Closers {
  const steps: { readonly name: string; readonly close: () => Promise<void> | void }[] = [];
  let running: Promise<void> | null = null;

  async function runAll(deadlineMs: number): Promise<void> {
    const { promise: late, cancel } = timeOut(deadlineMs);
    let isLate = false;
    void late.then(() => {
      isLate = true;
    });
    for (let step = steps.pop(); step; step = steps.pop()) {
      const { name, close } = step;
      const done = (async () => close())().catch((error: unknown) => {
        log().error({ err: error, step: name }, "a step of the shutdown failed");
      });
      // Late steps are still begun: what they flush at once is not lost.
      if (!isLate) await Promise.race([done, late]);
      if (isLate) log().warn({ step: name }, "a step of the shutdown took too long");
    }
    cancel();
  }

  return {
    add(name, close) {
      steps.push({ name, close });
    },
    run(deadlineMs) {
      running ??= runAll(deadlineMs);
      return running;
    },
  };
}

function timeOut(ms: number): { readonly promise: Promise<void>; readonly cancel: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const promise = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return { promise, cancel: () => clearTimeout(timer) };
}

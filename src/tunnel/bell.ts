/** Wakes one waiter before its time. A ring while nobody waits is heard by the next. */
export interface Bell {
  ring(): void;
  /** Resolves at a ring, after `ms`, or at an abort; never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export function createBell(): Bell {
  let rung = false;
  let wake: (() => void) | null = null;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    wait(ms, signal) {
      return new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", end);
          wake = null;
          rung = false;
          resolve();
        };
        const timer = setTimeout(end, ms);
        signal.addEventListener("abort", end, { once: true });
        wake = end;
        if (rung || signal.aborted) end();
      });
    },
  };
}

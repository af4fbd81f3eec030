import { replayLimits } from "./replay-script.ts";

export interface Pauses {
  /** Waits, at most until the signal aborts or the turn has waited enough. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  untilAborted(signal: AbortSignal): Promise<void>;
}

/** The waiting of one turn, bounded in sum. */
export function createPauses(): Pauses {
  let leftMs: number = replayLimits.turnDelayMs;

  return {
    async wait(ms, signal) {
      const waitMs = Math.min(ms, leftMs);
      if (waitMs <= 0 || signal.aborted) return;
      leftMs -= waitMs;
      await new Promise<void>((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", end);
          resolve();
        };
        const timer = setTimeout(end, waitMs);
        signal.addEventListener("abort", end, { once: true });
      });
    },
    async untilAborted(signal) {
      if (signal.aborted) return;
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    },
  };
}

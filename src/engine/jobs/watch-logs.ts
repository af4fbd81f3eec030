import { isRunning, type JobEntry } from "./job-entry.ts";
import type { JobFiles } from "./job-files.ts";
import type { JobLife } from "./job-life.ts";
import type { JobStore } from "./job-store.ts";
import { describe } from "./job-store.ts";
import { type LogBounds, logProblem, nextLookMs } from "./log-guard.ts";
import type { ProcessTable } from "./process-table.ts";

/** A flood must end soon after it was told to. */
const graceMs = 250;
/** Looks until what is slow to find out is asked again: about 5 s. */
const slowEvery = 20;

export interface WatchOptions {
  readonly files: JobFiles;
  readonly life: JobLife;
  readonly store: JobStore;
  readonly processes: ProcessTable;
  readonly bounds: LogBounds;
  /** Free bytes of the disk that holds the logs. */
  readonly freeBytes: () => Promise<number>;
  readonly onWarning: (message: string) => void;
}

export interface LogWatch {
  /** Looks soon; called when a log was opened. */
  wake(): void;
  close(): void;
}

/**
 * Looks at every log that may grow 4 times a second: its size, the free disk, and whether an adopted process still lives.
 * Sleeps while there is none.
 */
export function watchLogs(options: WatchOptions): LogWatch {
  const { files, life, store, processes } = options;
  const firstLookMs = 20;
  let timer: NodeJS.Timeout | null = null;
  let dueMs = 0;
  let looks = 0;
  let busy = false;
  let closed = false;

  function plan(inMs: number): void {
    const wantedMs = performance.now() + inMs;
    if (closed || busy || (timer !== null && dueMs <= wantedMs)) return;
    if (timer !== null) clearTimeout(timer);
    dueMs = wantedMs;
    timer = setTimeout(() => void look(), inMs).unref();
  }

  async function look(): Promise<void> {
    timer = null;
    busy = true;
    looks += 1;
    let nextMs = 250;
    try {
      const freeBytes = await options.freeBytes().catch(() => null);
      for (const entry of [...life.active]) nextMs = Math.min(nextMs, await lookAt(entry, freeBytes));
      if (looks % slowEvery === 0) store.saveAgain();
    } catch (error) {
      options.onWarning(`Logs of jobs could not be checked (${describe(error)}); it is tried again.`);
    }
    busy = false;
    if (life.active.size > 0) plan(nextMs);
  }

  async function lookAt(entry: JobEntry, freeBytes: number | null): Promise<number> {
    if (isRunning(entry) && !entry.ours && entry.gone === null && !leaderLives(entry))
      life.leaderGone(entry, null);
    if (entry.lingering && looks % slowEvery === 0) await life.putAway(entry);
    const bytes = await files.logBytes(entry.record.id);
    const nowMs = performance.now();
    const grownBytes = bytes - entry.seenBytes;
    const sinceMs = nowMs - entry.seenAtMs;
    entry.seenBytes = bytes;
    entry.seenAtMs = nowMs;
    const problem = logProblem({ bytes, grew: grownBytes > 0 }, freeBytes, options.bounds);
    if (problem !== null && entry.killing === null) endFor(entry, problem);
    return nextLookMs({ bytes, grownBytes, sinceMs }, options.bounds.maxLogBytes);
  }

  function leaderLives(entry: JobEntry): boolean {
    const { pid, start } = entry.record;
    if (pid === null) return false;
    if (!processes.cheap && looks % slowEvery !== 0) return pidExists(pid);
    const row = processes.find(pid);
    return row !== null && row.start === start && !row.ended;
  }

  function endFor(entry: JobEntry, reason: string): void {
    life.end(entry, { reason, graceMs }).catch((error: unknown) => {
      options.onWarning(`Job ${entry.record.id} could not be ended although ${reason} (${describe(error)}).`);
    });
  }

  return {
    wake: () => plan(firstLookMs),
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Whether any process has that pid. Signal 0 reaches nobody. */
function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

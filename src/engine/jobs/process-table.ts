export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  readonly pgrp: number;
  /** When it was started: clock ticks since boot (Linux) or seconds since 1970. Together with boot and pid an identity. */
  readonly start: number;
  /** True for a zombie: it has ended, but keeps its pid. */
  readonly ended: boolean;
  /** `SALLYPORT_JOB` of its environment (Linux only). */
  readonly job: string | null;
}

/** The processes of this machine, as far as this user may see them. */
export interface ProcessTable {
  /** Random per boot: pids and start times of another boot mean nothing. */
  readonly bootId: string;
  /** Whether `find` is cheap enough to be asked several times a second. */
  readonly cheap: boolean;
  /** One process now, without `job`; null when there is none. Synchronous, so that a signal can follow at once. */
  find(pid: number): ProcessRow | null;
  /** All processes started at `sinceStart` or later. Begun after the call; calls of the same moment share one scan. */
  scan(sinceStart: number): Promise<readonly ProcessRow[]>;
}

const restsPerScan = 3;
const maxRestMs = 100;

/** So long after a scan the next one may begin: in a flood of ends, looking for processes takes a quarter of the time. */
export function restAfterScan(tookMs: number): number {
  return Math.min(maxRestMs, tookMs * restsPerScan);
}

/**
 * Lets callers that wait for the running scan, or while the machine rests from it, share the next one.
 *
 * @param rest waits after a scan that took so long
 */
export function shareScans(
  scan: ProcessTable["scan"],
  rest: (tookMs: number) => Promise<void>,
): ProcessTable["scan"] {
  interface Waiter {
    readonly sinceStart: number;
    readonly resolve: (rows: readonly ProcessRow[]) => void;
    readonly reject: (error: unknown) => void;
  }
  let waiting: Waiter[] = [];
  let busy = false;

  async function run(): Promise<void> {
    busy = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const begunMs = performance.now();
      try {
        const rows = await scan(Math.min(...batch.map((waiter) => waiter.sinceStart)));
        for (const waiter of batch) waiter.resolve(rows);
      } catch (error) {
        for (const waiter of batch) waiter.reject(error);
      }
      await rest(performance.now() - begunMs);
    }
    busy = false;
  }

  return (sinceStart) =>
    new Promise((resolve, reject) => {
      waiting.push({ sinceStart, resolve, reject });
      if (!busy) void run();
    });
}

import { SallyportError } from "../errors.ts";

export interface RetryingWriterOptions {
  /** Writes the state as it is when it is called. */
  readonly write: () => Promise<void>;
  /** Told once for each failed attempt; the text is for the log. */
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds until the first retry; doubled up to `maxRetryMs`. */
  readonly firstRetryMs?: number;
  readonly maxRetryMs?: number;
}

export interface RetryingWriter {
  /** Writes the present state: resolves when a write that began after this call is on disk. Rejects when it failed; it is tried again on its own. */
  save(): Promise<void>;
  /** True while the disk is behind the memory. */
  readonly behind: boolean;
  /** One last attempt if something is unwritten, then no more timers. Rejects if that fails. */
  close(): Promise<void>;
}

/** Serialises writes of one file: never two at once, calls that wait share the next one, a failed one is repeated with back-off. */
export function createRetryingWriter(options: RetryingWriterOptions): RetryingWriter {
  const { firstRetryMs = 500, maxRetryMs = 30_000 } = options;
  let running: Promise<void> | null = null;
  let waiting: Promise<void> | null = null;
  let behind = false;
  let closed = false;
  let retryMs = firstRetryMs;
  let retryTimer: NodeJS.Timeout | null = null;

  function stopTimer(): void {
    if (retryTimer) clearTimeout(retryTimer);
    retryTimer = null;
  }

  async function attempt(): Promise<void> {
    stopTimer();
    try {
      await options.write();
      behind = waiting !== null;
      retryMs = firstRetryMs;
    } catch (error) {
      options.onFailure(error);
      scheduleRetry();
      throw error;
    }
  }

  function scheduleRetry(): void {
    if (closed) return;
    stopTimer();
    retryTimer = setTimeout(() => {
      // Whoever waits was told of the first failure; `onFailure` hears of this one.
      save().catch(() => undefined);
    }, retryMs).unref();
    retryMs = Math.min(retryMs * 2, maxRetryMs);
  }

  function start(): Promise<void> {
    const mine = attempt().finally(() => {
      if (running === mine) running = null;
    });
    running = mine;
    return mine;
  }

  function save(): Promise<void> {
    behind = true;
    if (waiting) return waiting;
    if (!running) return start();
    waiting = running
      .catch(() => undefined)
      .then(() => {
        waiting = null;
        return start();
      });
    return waiting;
  }

  return {
    save,
    get behind() {
      return behind;
    },
    async close() {
      closed = true;
      stopTimer();
      if (running || waiting) await (waiting ?? running)?.catch(() => undefined);
      if (behind) await save();
    },
  };
}

/** What the caller of a change is told when the disk refused it. */
export function writeRefused(error: unknown, message: string): SallyportError {
  const { code = "" } = error as NodeJS.ErrnoException;
  const full = code === "ENOSPC" || code === "EDQUOT";
  return new SallyportError(full ? "disk_full" : "internal", message, { cause: error, detail: code });
}

import { constants } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { type AuditEvent, type AuditSink, auditLine } from "../auth/audit.ts";
import { type Clock, toTime } from "../lib/clock.ts";

export interface AuditLogOptions {
  /** `audit.jsonl`; the part before it is kept as `audit.jsonl.1`. */
  readonly path: string;
  readonly clock: Clock;
  readonly onProblem: (problem: unknown) => void;
  readonly maxBytes?: number;
  readonly maxPendingLines?: number;
  /** Wrong codes are summed up for this long. */
  readonly missIntervalMs?: number;
}

export interface AuditLog {
  readonly record: AuditSink;
  /** A wrong code: the first gets a line at once, those after it one line a minute together. */
  readonly recordMiss: () => void;
  /** Writes what is left. */
  close(): Promise<void>;
}

const appendFlags =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Appends to the audit log, never more than `maxBytes` twice over. The log may fail; what it is about goes on. */
export function createAuditLog(options: AuditLogOptions): AuditLog {
  const { maxBytes = 4 * 1024 * 1024, maxPendingLines = 1_000, missIntervalMs = 60_000 } = options;
  const pending: string[] = [];
  let dropped = 0;
  let writing: Promise<void> | null = null;
  let misses = 0;
  let missTimer: NodeJS.Timeout | null = null;
  let failedBefore = false;

  function record(event: AuditEvent): void {
    if (pending.length >= maxPendingLines) {
      dropped += 1;
      return;
    }
    pending.push(auditLine(event, toTime(options.clock.now())));
    writing ??= drain().finally(() => {
      writing = null;
    });
  }

  async function drain(): Promise<void> {
    // The rest of this turn of the loop may add lines; they go out together.
    await Promise.resolve();
    while (pending.length > 0) {
      const lines = takeLines();
      try {
        await append(lines.join(""));
        failedBefore = false;
      } catch (error) {
        dropped += lines.length;
        if (!failedBefore) options.onProblem(error);
        failedBefore = true;
      }
    }
    if (dropped > 0 && !failedBefore) {
      options.onProblem(new Error(`${options.path}: ${dropped} lines were not written`));
      dropped = 0;
    }
  }

  /** The next lines that fit into one file together; one alone always goes. */
  function takeLines(): readonly string[] {
    let bytes = 0;
    const fits = pending.findIndex((line, index) => {
      bytes += Buffer.byteLength(line);
      return index > 0 && bytes > maxBytes;
    });
    return pending.splice(0, fits < 0 ? pending.length : fits);
  }

  async function append(text: string): Promise<void> {
    let handle = await open(options.path, appendFlags, 0o600);
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) throw new Error(`${options.path} is not a regular file`);
      if (stat.size > 0 && stat.size + Buffer.byteLength(text) > maxBytes) {
        await handle.close();
        await rename(options.path, `${options.path}.1`);
        handle = await open(options.path, appendFlags, 0o600);
      }
      await endTornLine(handle, options.path);
      await handle.chmod(0o600);
      await handle.appendFile(text);
    } finally {
      await handle.close();
    }
  }

  function flushMisses(): void {
    missTimer = null;
    if (misses === 0) return;
    record({ type: "pairing_missed", count: misses });
    misses = 0;
    missTimer = setTimeout(flushMisses, missIntervalMs).unref();
  }

  return {
    record,
    recordMiss() {
      misses += 1;
      if (!missTimer) flushMisses();
    },
    async close() {
      if (missTimer) clearTimeout(missTimer);
      flushMisses();
      if (missTimer) clearTimeout(missTimer);
      await writing;
    },
  };
}

/** A crash may have cut the last line; ours begins on a new one. */
async function endTornLine(handle: FileHandle, path: string): Promise<void> {
  const { size } = await handle.stat();
  if (size === 0) return;
  const reader = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { buffer } = await reader.read(Buffer.alloc(1), 0, 1, size - 1);
    if (buffer[0] !== 0x0a) await handle.appendFile("\n");
  } finally {
    await reader.close();
  }
}

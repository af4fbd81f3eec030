import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "./atomic-file.ts";

const newline = 0x0a;
const chunkBytes = 64 * 1024;
const batchBytes = 1024 * 1024;
const openFlags = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export interface AppendOptions {
  /** Resolve only when the records are on the disk, not just in its cache. */
  readonly sync?: boolean;
  /** Called in the moment before the bytes are written; if it throws, nothing is written and `append` rejects with it. */
  readonly beforeWrite?: () => void;
}

export interface Jsonl {
  readonly path: string;
  /** Bytes of whole records; what lies behind them is not part of the file. */
  readonly sizeBytes: number;
  /** Bytes of a torn last line that were cut off when the file was opened. */
  readonly cutBytes: number;
  /**
   * Appends records, one a line, all or none of them; calls are written in the order they were made. Rejects with the
   * error of the file system, and then the file is as it was before. A line over the bound is a TypeError.
   */
  append(records: readonly unknown[], options?: AppendOptions): Promise<void>;
  /** Waits for what was appended so far and closes the file. */
  close(): Promise<void>;
}

export interface JsonlOptions {
  readonly path: string;
  /** Longest line, with its newline. Readers discard longer ones, so they are never written. */
  readonly maxLineBytes: number;
}

interface Entry {
  readonly bytes: Buffer;
  readonly options: AppendOptions;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Opens an append-only file of JSON records for its one writer (created with mode 0600, never through a link). A torn
 * last line is cut off here, so that the next record never continues it.
 */
export async function openJsonl(options: JsonlOptions): Promise<Jsonl> {
  const handle = await openOrCreate(options.path);
  let sizeBytes: number;
  let cutBytes: number;
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Error(`${options.path} is not a regular file`);
    sizeBytes = await endOfLastLine(handle, stat.size);
    cutBytes = stat.size - sizeBytes;
    if (cutBytes > 0) await handle.truncate(sizeBytes);
  } catch (error) {
    await handle.close();
    throw error;
  }

  let queue: Entry[] = [];
  let draining: Promise<void> | null = null;
  let closed = false;
  /** True when a failed append could not be taken back yet: bytes of it may lie behind `sizeBytes`. */
  let tailUncertain = false;

  async function writeBatch(entries: readonly Entry[]): Promise<void> {
    const bytes = Buffer.concat(entries.map((entry) => entry.bytes));
    try {
      if (tailUncertain) {
        await handle.truncate(sizeBytes);
        tailUncertain = false;
      }
      await writeAll(handle, bytes, sizeBytes);
      if (entries.some((entry) => entry.options.sync)) await handle.datasync();
    } catch (error) {
      await handle.truncate(sizeBytes).catch(() => {
        tailUncertain = true;
      });
      throw error;
    }
    sizeBytes += bytes.byteLength;
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      const batch: Entry[] = [];
      let bytes = 0;
      while (queue[0] && (batch.length === 0 || bytes + queue[0].bytes.byteLength <= batchBytes)) {
        const entry = queue.shift();
        if (!entry) break;
        try {
          entry.options.beforeWrite?.();
        } catch (error) {
          entry.reject(error);
          continue;
        }
        batch.push(entry);
        bytes += entry.bytes.byteLength;
      }
      try {
        await writeBatch(batch);
        for (const entry of batch) entry.resolve();
      } catch (error) {
        for (const entry of batch) entry.reject(error);
      }
    }
    draining = null;
  }

  return {
    path: options.path,
    get sizeBytes() {
      return sizeBytes;
    },
    cutBytes,
    append(records, appendOptions = {}) {
      if (closed) return Promise.reject(new TypeError(`${options.path} is closed`));
      const lines = records.map((record) => Buffer.from(`${JSON.stringify(record)}\n`));
      if (lines.some((line) => line.byteLength > options.maxLineBytes))
        return Promise.reject(new TypeError(`a record is longer than ${options.maxLineBytes} bytes`));
      return new Promise<void>((resolve, reject) => {
        queue.push({ bytes: Buffer.concat(lines), options: appendOptions, resolve, reject });
        draining ??= Promise.resolve().then(drain);
      });
    },
    async close() {
      if (closed) return;
      closed = true;
      while (draining) await draining;
      queue = [];
      await handle.close();
    },
  };
}

async function openOrCreate(path: string): Promise<FileHandle> {
  const existing = await open(path, openFlags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (existing) return existing;
  const created = await open(path, openFlags | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await created.chmod(0o600);
    await syncFolder(dirname(path));
    return created;
  } catch (error) {
    await created.close();
    throw error;
  }
}

async function endOfLastLine(handle: FileHandle, sizeBytes: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  let end = sizeBytes;
  while (end > 0) {
    const start = Math.max(0, end - chunkBytes);
    const { bytesRead } = await handle.read(buffer, 0, end - start, start);
    const found = buffer.subarray(0, bytesRead).lastIndexOf(newline);
    if (found !== -1) return start + found + 1;
    end = start;
  }
  return 0;
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.byteLength) {
    const result = await handle.write(bytes, written, bytes.byteLength - written, position + written);
    if (result.bytesWritten === 0) throw new Error("the file system took no bytes");
    written += result.bytesWritten;
  }
}

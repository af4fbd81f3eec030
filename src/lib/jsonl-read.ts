import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { notRegularFile } from "./not-regular-file.ts";

const newline = 0x0a;
const chunkBytes = 64 * 1024;

export type JsonRecord = Readonly<Record<string, unknown>>;

/** One line found in a file of JSON records. `record` is null where the line is damaged or over the bound. */
export interface JsonlLine {
  readonly startOffset: number;
  /** Offset behind the line's newline. */
  readonly endOffset: number;
  readonly record: JsonRecord | null;
}

interface ScanOptions {
  readonly maxLineBytes: number;
  readonly maxScanBytes: number;
}

export interface PageOptions extends ScanOptions {
  readonly path: string;
  /** Only lines that end at or before this byte offset; default: the end of the file. */
  readonly before?: number;
  readonly maxRecords: number;
  readonly maxBytes: number;
  /** False for a record that is left out of the page without being counted as damaged. Throws nothing. */
  readonly wanted?: (record: JsonRecord) => boolean;
  /** False for a record that is not of the right form: counted as damaged. */
  readonly valid?: (record: JsonRecord) => boolean;
}

export interface JsonlPage {
  /** Oldest first. */
  readonly records: readonly JsonRecord[];
  /** Pass as `before` for the page before this one; null when the beginning of the file was reached. */
  readonly before: number | null;
  /** Damaged or over-long lines that were skipped on the way. */
  readonly damaged: number;
}

/**
 * Reads the newest records before an offset without reading the rest of the file; a last line without a newline is no
 * record. Memory: one page and one line. Returns null when there is no such file.
 */
export async function readJsonlPage(options: PageOptions): Promise<JsonlPage | null> {
  const handle = await openForReading(options.path);
  if (!handle) return null;
  try {
    const { size } = await handle.stat();
    const end = Math.min(size, Math.max(0, options.before ?? size));
    const records: JsonRecord[] = [];
    let bytes = 0;
    let damaged = 0;
    let before: number | null = null;
    for await (const line of linesBackwards(handle, end, options)) {
      if (typeof line === "number") {
        before = line;
        break;
      }
      if (line.record === null || options.valid?.(line.record) === false) {
        damaged += 1;
        continue;
      }
      if (options.wanted?.(line.record) === false) continue;
      const lineBytes = line.endOffset - line.startOffset;
      if (records.length > 0 && bytes + lineBytes > options.maxBytes) {
        before = line.endOffset;
        break;
      }
      records.push(line.record);
      bytes += lineBytes;
      if (records.length === options.maxRecords) {
        before = line.startOffset;
        break;
      }
    }
    return { records: records.reverse(), before: before === 0 ? null : before, damaged };
  } finally {
    await handle.close();
  }
}

/**
 * Walks the records of a file from the newest to the oldest until `visit` returns `stop`, the beginning, or
 * `maxScanBytes`. Damaged lines are left out. False when there is no such file.
 */
export async function walkJsonlBackwards(
  path: string,
  options: ScanOptions,
  visit: (record: JsonRecord) => "stop" | "go_on",
): Promise<boolean> {
  const handle = await openForReading(path);
  if (!handle) return false;
  try {
    const { size } = await handle.stat();
    for await (const line of linesBackwards(handle, size, options)) {
      if (typeof line !== "object" || line.record === null) continue;
      if (visit(line.record) === "stop") break;
    }
    return true;
  } finally {
    await handle.close();
  }
}

/**
 * Reads a whole file of records, oldest first, in bounded memory. Damaged lines, over-long lines and a torn last line
 * are skipped. Returns how many lines were whole and how many of them were damaged; null when there is no such file.
 * Throws EFBIG, before anything is read, for a file over `maxFileBytes`.
 */
export async function readJsonl(
  path: string,
  options: { readonly maxLineBytes: number; readonly maxFileBytes?: number },
  visit: (record: JsonRecord) => void,
): Promise<{ readonly lines: number; readonly damaged: number } | null> {
  const handle = await openForReading(path);
  if (!handle) return null;
  try {
    if ((await handle.stat()).size > (options.maxFileBytes ?? Number.POSITIVE_INFINITY))
      throw Object.assign(new Error(`${path} is too large`), { code: "EFBIG", path });
    const buffer = Buffer.allocUnsafe(chunkBytes);
    let parts: Buffer[] = [];
    let partBytes = 0;
    let lines = 0;
    let damaged = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, chunkBytes);
      if (bytesRead === 0) return { lines, damaged };
      let start = 0;
      for (;;) {
        const found = buffer.subarray(0, bytesRead).indexOf(newline, start);
        const piece = buffer.subarray(start, found === -1 ? bytesRead : found);
        partBytes += piece.byteLength;
        // Over the bound nothing is kept, but the line still goes on to its newline.
        if (partBytes >= options.maxLineBytes) parts = [];
        else parts.push(found === -1 ? Buffer.from(piece) : piece);
        if (found === -1) break;
        lines += 1;
        const record = partBytes >= options.maxLineBytes ? null : parseRecord(Buffer.concat(parts));
        if (record) visit(record);
        else damaged += 1;
        parts = [];
        partBytes = 0;
        start = found + 1;
      }
    }
  } finally {
    await handle.close();
  }
}

/** Yields lines, newest first; then, if the scan bound was met, the offset where it stopped. */
async function* linesBackwards(
  handle: FileHandle,
  end: number,
  options: ScanOptions,
): AsyncGenerator<JsonlLine | number> {
  const stopAt = Math.max(0, end - options.maxScanBytes);
  let position = end;
  /** End of the line that is being collected; null until the first newline: what lies behind it is torn. */
  let lineEnd: number | null = null;
  let parts: Buffer[] = [];
  let partBytes = 0;

  const line = (startOffset: number, endOffset: number): JsonlLine => ({
    startOffset,
    endOffset,
    record: partBytes >= options.maxLineBytes ? null : parseRecord(Buffer.concat(parts)),
  });
  const collect = (piece: Buffer): void => {
    if (lineEnd === null) return;
    partBytes += piece.byteLength;
    if (partBytes >= options.maxLineBytes) parts = [];
    else parts.unshift(piece);
  };

  while (position > 0) {
    if (position <= stopAt) {
      // The line at the bound is read again as a whole by the next page, unless it alone fills the bound.
      yield lineEnd !== null && lineEnd < end ? lineEnd : position;
      return;
    }
    const start = Math.max(0, position - chunkBytes);
    const chunk = Buffer.allocUnsafe(position - start);
    const { bytesRead } = await handle.read(chunk, 0, chunk.byteLength, start);
    // The file got shorter while we read: a failed append was taken back. What is left of the chunk still counts.
    let pieceEnd = bytesRead;
    while (pieceEnd > 0) {
      const found = chunk.lastIndexOf(newline, pieceEnd - 1);
      if (found === -1) break;
      collect(chunk.subarray(found + 1, pieceEnd));
      if (lineEnd !== null) yield line(start + found + 1, lineEnd);
      lineEnd = start + found + 1;
      parts = [];
      partBytes = 0;
      pieceEnd = found;
    }
    collect(chunk.subarray(0, pieceEnd));
    position = start;
  }
  if (lineEnd !== null) yield line(0, lineEnd);
}

function parseRecord(bytes: Buffer): JsonRecord | null {
  if (!isUtf8(bytes)) return null;
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as JsonRecord)
      : null;
  } catch {
    // Not JSON: the caller counts it as damaged.
    return null;
  }
}

async function openForReading(path: string): Promise<FileHandle | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (!handle) return null;
  const stat = await handle.stat();
  if (stat.isFile()) return handle;
  await handle.close();
  throw notRegularFile(path);
}

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

const newline = 0x0a;
const chunkBytes = 64 * 1024;

/** Opens a file of records for reading, never through a link. Null when there is none, or it is no regular file. */
export async function openRecords(path: string): Promise<FileHandle | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ELOOP") return null;
    throw error;
  });
  if (!handle) return null;
  const isFile = await handle.stat().then(
    (stat) => stat.isFile(),
    () => false,
  );
  if (isFile) return handle;
  await handle.close();
  return null;
}

export interface ScanRange {
  /** Offset of the first byte; a line that begins before it is left out. */
  readonly from: number;
  readonly to: number;
  /** Longer lines are skipped to their end. */
  readonly maxLineBytes: number;
}

/**
 * Reads whole lines of a range, oldest first, in bounded memory; `visit` gets the bytes without the newline and may end
 * the scan. Returns the offset behind the last whole line (`from` when there was none).
 */
export async function scanLines(
  handle: FileHandle,
  range: ScanRange,
  visit: (line: Buffer) => "stop" | undefined,
): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(chunkBytes, range.to - range.from + 1)));
  // One byte earlier: a newline there says that `from` is the beginning of a line.
  let position = Math.max(0, range.from - 1);
  let skipping = range.from > 0;
  let end = range.from;
  let parts: Buffer[] = [];
  let partBytes = 0;
  while (position < range.to) {
    const { bytesRead } = await handle.read(
      buffer,
      0,
      Math.min(buffer.byteLength, range.to - position),
      position,
    );
    if (bytesRead === 0) return end;
    let start = 0;
    for (;;) {
      const found = buffer.subarray(0, bytesRead).indexOf(newline, start);
      const piece = buffer.subarray(start, found === -1 ? bytesRead : found);
      partBytes += piece.byteLength;
      const keeps = !skipping && partBytes < range.maxLineBytes;
      if (!keeps) parts = [];
      else parts.push(found === -1 ? Buffer.from(piece) : piece);
      if (found === -1) break;
      end = position + found + 1;
      if (keeps) {
        const line = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
        if (visit(line) === "stop") return end;
      }
      skipping = false;
      parts = [];
      partBytes = 0;
      start = found + 1;
    }
    position += bytesRead;
  }
  return end;
}

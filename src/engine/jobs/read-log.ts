import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { SallyportError } from "../../errors.ts";
import { limits } from "../../protocol/limits.ts";
import {
  contextBytes,
  decodeChunk,
  nextUnitStart,
  placeOf,
  startOfLast,
  startOfLines,
} from "./decode-log.ts";

/** All that one answer looks at: a chunk, and what is needed to tell where its characters begin and end. */
const scratch = Buffer.allocUnsafeSlow(limits.jobOutputBytes + 2 * contextBytes);
export const maxTailLines = 2_000;

export interface LogRequest {
  readonly offset?: number;
  readonly limit?: number;
  /** Lines from the end. */
  readonly tail?: number;
}
export interface LogChunk {
  readonly offset: number;
  readonly nextOffset: number;
  readonly size: number;
  readonly output: string;
}

/** Refuses numbers that no log could answer, before the log is opened. Throws `invalid_field`. */
export function checkLogRequest(request: LogRequest): void {
  const { offset, limit, tail } = request;
  if (offset !== undefined && (!Number.isSafeInteger(offset) || offset < 0))
    throw refused("offset", "offset must be a whole number of bytes, 0 or more.");
  if (limit !== undefined && !within(limit, limits.jobOutputMinBytes, limits.jobOutputBytes))
    throw refused(
      "limit",
      `limit must be from ${limits.jobOutputMinBytes} to ${limits.jobOutputBytes} bytes.`,
    );
  if (tail !== undefined && !within(tail, 1, maxTailLines))
    throw refused("tail", `tail must be from 1 to ${maxTailLines} lines.`);
  if (tail !== undefined && offset !== undefined)
    throw refused("tail", "Give either offset or tail, not both.");
}

/**
 * Reads one chunk of the log at `path`: from `offset`, or the last lines, or the last `limit` bytes (64 KiB). `ended`: the
 * job has ended, so a character cut by the end stays cut. Throws `invalid_field` for an offset beyond the end or inside
 * a character, `not_found` when the log is gone.
 */
export async function readLog(path: string, request: LogRequest, ended: boolean): Promise<LogChunk> {
  checkLogRequest(request);
  const fd = openLog(path);
  try {
    return await readChunk(fd, request, ended);
  } finally {
    closeSync(fd);
  }
}

/** Opens a log for reading: never through a link, never a pipe or device. The caller closes it. */
export function openLog(path: string): number {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    throw new SallyportError("not_found", "The log of this job is gone.", { field: "job", cause });
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new SallyportError("not_found", "The log of this job is not a file any more.", { field: "job" });
}

/** As `readLog`, for a log that is open. */
export async function readChunk(fd: number, request: LogRequest, ended: boolean): Promise<LogChunk> {
  const maxBytes = request.limit ?? limits.jobOutputBytes;
  const size = fstatSync(fd).size;
  return request.offset === undefined
    ? readEnd(fd, { size, maxBytes, lines: request.tail ?? null, ended })
    : readFrom(fd, { size, maxBytes, offset: request.offset, ended });
}

async function readFrom(
  fd: number,
  at: { readonly size: number; readonly maxBytes: number; readonly offset: number; readonly ended: boolean },
): Promise<LogChunk> {
  const { size, maxBytes, offset, ended } = at;
  if (offset > size) throw refused("offset", `offset is beyond the end of the log (${size} bytes).`);
  const first = Math.max(0, offset - contextBytes);
  const bytes = readRange(fd, first, Math.min(size, offset + maxBytes + contextBytes));
  const place = placeOf(bytes, offset - first);
  if (place === "inside")
    throw refused("offset", "offset is inside a character. Use the next_offset of the chunk before.");
  if (place === "cut" && !ended) return { offset, nextOffset: offset, size, output: "" };
  const { text, taken } = decodeChunk(bytes.subarray(offset - first), maxBytes, ended);
  return { offset, nextOffset: offset + taken, size, output: text };
}

async function readEnd(
  fd: number,
  at: {
    readonly size: number;
    readonly maxBytes: number;
    readonly lines: number | null;
    readonly ended: boolean;
  },
): Promise<LogChunk> {
  const { size, maxBytes, lines, ended } = at;
  const from = Math.max(0, size - maxBytes);
  const first = Math.max(0, from - contextBytes);
  const bytes = readRange(fd, first, size);
  const lineStart = lines === null ? 0 : startOfLines(bytes, lines);
  const unitStart = nextUnitStart(bytes, Math.max(lineStart, from - first));
  const start = unitStart + startOfLast(bytes.subarray(unitStart), maxBytes, ended);
  const { text, taken } = decodeChunk(bytes.subarray(start), maxBytes, ended);
  const offset = first + start;
  return { offset, nextOffset: offset + taken, size: Math.max(size, offset + taken), output: text };
}

/** The first position at or after `from` where a character or an invalid part begins. */
export async function findUnitStart(fd: number, from: number): Promise<number> {
  const first = Math.max(0, from - contextBytes);
  const bytes = readRange(fd, first, from + contextBytes);
  return first + nextUnitStart(bytes, Math.min(from - first, bytes.length));
}

/**
 * Bytes `[from, to)` of the file, valid until the next call; fewer when it has become shorter. Read in place and not by a
 * thread: a log that somebody watches is in the system's cache, where a chunk takes 15 µs, and the way to a thread and
 * back, with a buffer for each, took longer than all else about an answer.
 */
function readRange(fd: number, from: number, to: number): Uint8Array {
  const wanted = Math.max(0, Math.min(to - from, scratch.length));
  let filled = 0;
  while (filled < wanted) {
    const bytesRead = readSync(fd, scratch, filled, wanted - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return scratch.subarray(0, filled);
}

function within(value: number, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most;
}

function refused(field: string, message: string): SallyportError {
  return new SallyportError("invalid_field", message, { field });
}

import { closeSync, constants, fchmodSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import { notRegularFile } from "../lib/not-regular-file.ts";

export interface LogFileOptions {
  readonly path: string;
  /** The file is renamed to `<path>.1` when it would grow over this; two files are all there ever is. */
  readonly maxBytes: number;
  /** A flood of lines costs neither the disk nor the processor: what is over this is counted and left out. */
  readonly maxLinesPerSecond: number;
  readonly now: () => number;
}

export interface LogFile {
  write(line: string): void;
  close(): void;
}

/**
 * Opens a log that is bounded in size and rate. Lines are written at once and in order, so that the last words of a process
 * that dies are in it. A disk that refuses is no reason to stop: the line is lost, and counted in the next that fits.
 */
export function openLogFile(options: LogFileOptions): LogFile {
  let fd = openForAppend(options.path);
  let size = fstatSync(fd).size;
  let second = 0;
  let linesInSecond = 0;
  let dropped = 0;

  function rotate(): void {
    closeSync(fd);
    renameSync(options.path, `${options.path}.1`);
    fd = openForAppend(options.path);
    size = 0;
  }

  function put(line: string): void {
    const bytes = Buffer.from(line);
    if (size > 0 && size + bytes.byteLength > options.maxBytes) rotate();
    size += writeSync(fd, bytes);
  }

  return {
    write(line) {
      const now = Math.floor(options.now() / 1000);
      if (now !== second) {
        second = now;
        linesInSecond = 0;
      }
      if (++linesInSecond > options.maxLinesPerSecond) {
        dropped += 1;
        return;
      }
      try {
        if (dropped > 0) {
          put(`{"level":40,"time":${options.now()},"dropped":${dropped},"msg":"log lines were left out"}\n`);
          dropped = 0;
        }
        put(line);
      } catch {
        // The disk is full or gone: a daemon that cannot log still serves; the count is told when it can again.
        dropped += 1;
      }
    },
    close() {
      closeSync(fd);
    },
  };
}

function openForAppend(path: string): number {
  // Without O_NONBLOCK a pipe in its place would hold the start until somebody reads it.
  const flags =
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const fd = openSync(path, flags, 0o600);
  if (!fstatSync(fd).isFile()) {
    closeSync(fd);
    throw notRegularFile(path);
  }
  fchmodSync(fd, 0o600);
  return fd;
}

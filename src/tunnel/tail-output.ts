import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { createLineReader } from "./line-reader.ts";
import { maxLineLength } from "./provider.ts";

const chunkBytes = 64 * 1024;
/** Between two looks. */
const pollMs = 100;
/** What was read is cut off the file beyond this. */
const cutBytes = 4 * 1024 * 1024;
/** Beyond this the middle of a flood is left out: what a tool says first and last matters most. */
const maxBehindBytes = 1024 * 1024;
const keptBytes = 256 * 1024;
/** Of one look; of more only those are passed on that may hold an address. */
const maxLines = 1_000;

export interface TailOptions {
  readonly onLine: (line: string) => void;
  /** Written over in the file as soon as they are seen there: a tool may print what it was given. */
  readonly secrets: readonly string[];
}

export interface Tail {
  /** Reads what is there now, then stops. */
  close(): Promise<void>;
}

/**
 * Follows a file that a tool appends to, for as long as the tool lives, with bounded memory and a bounded file. A line
 * that stays without an end for one look is passed on as it is.
 */
export function tailOutput(path: string, { onLine, secrets }: TailOptions): Tail {
  const closing = new AbortController();
  const lines = createLineReader(maxLineLength);
  const cover = createCover(secrets);
  const chunk = Buffer.alloc(chunkBytes);
  let offset = 0;

  async function look(file: FileHandle): Promise<void> {
    const { size } = await file.stat();
    if (size < offset) offset = 0;
    if (size === offset) {
      const partial = lines.flush();
      if (partial !== null) onLine(partial);
      return;
    }
    const passed = { count: 0 };
    const skips = size - offset > maxBehindBytes;
    if (skips) {
      await readTo(file, offset + keptBytes, passed);
      offset = size - keptBytes;
    }
    await readTo(file, size, passed);
    // What was left out may hold a secret.
    if (offset <= cutBytes && !(skips && secrets.length > 0)) return;
    // The tool appends, so it goes on at the new end.
    await file.truncate(0);
    offset = 0;
  }

  async function readTo(file: FileHandle, end: number, passed: { count: number }): Promise<void> {
    while (offset < end) {
      const { bytesRead } = await file.read(chunk, 0, Math.min(chunkBytes, end - offset), offset);
      if (bytesRead === 0) return;
      await cover(file, chunk.subarray(0, bytesRead), offset);
      offset += bytesRead;
      for (const line of lines.push(chunk.subarray(0, bytesRead))) {
        passed.count += 1;
        if (passed.count <= maxLines || line.includes("http")) onLine(line);
      }
    }
  }

  async function follow(): Promise<void> {
    const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW).catch(() => null);
    if (file === null) return;
    try {
      while (!closing.signal.aborted) {
        await look(file);
        await delay(pollMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      }
      await look(file);
    } finally {
      await file.close();
    }
  }

  const done = follow().catch(() => undefined);
  return {
    close() {
      closing.abort();
      return done;
    },
  };
}

/** Writes stars over secrets in what was just read, also over one that two readings have a part of. */
function createCover(
  secrets: readonly string[],
): (file: FileHandle, bytes: Buffer, offset: number) => Promise<void> {
  const wanted = secrets.map((secret) => Buffer.from(secret)).filter(({ length }) => length > 0);
  const longest = Math.max(0, ...wanted.map(({ length }) => length));
  let before: Buffer = Buffer.alloc(0);
  let end = 0;
  return async (file, bytes, offset) => {
    if (longest === 0) return;
    const kept = end === offset ? before : Buffer.alloc(0);
    const joined = Buffer.concat([kept, bytes]);
    const start = offset - kept.length;
    for (const secret of wanted)
      for (let at = joined.indexOf(secret); at >= 0; at = joined.indexOf(secret, at + secret.length))
        await file.write("*".repeat(secret.length), start + at);
    end = offset + bytes.length;
    before = joined.subarray(Math.max(0, joined.length - longest + 1));
  };
}

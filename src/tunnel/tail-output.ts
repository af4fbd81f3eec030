import { constants, fstatSync, ftruncateSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { createLineReader } from "./line-reader.ts";
import { maxLineLength } from "./provider.ts";

const chunkBytes = 64 * 1024;
/** Between two looks. */
const pollMs = 100;
/** So often a line that only grows and never stands still is passed on as far as it is. */
const growingLooks = 10;
/** What was read is cut off the file beyond this. */
const cutBytes = 4 * 1024 * 1024;
/** So often the end of a tool's output is caught up with before it is cut; a file that is too long is cut all the same. */
const cutTries = 20;
/** Read in one look; what is more is for the next one. */
const maxLookBytes = 16 * 1024 * 1024;
/** Beyond this the middle of a flood is left out: the file must stay small, and what a tool says first and last matters most. */
const maxBehindBytes = 64 * 1024 * 1024;
const keptBytes = 256 * 1024;
/** Passed on in one look; of more lines only those that may hold an address, and not without end. */
const maxLines = 1_000;
const maxAddressLines = 1_000;
/** After the end of the tool. */
const lastLooks = 5;

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
 * that stays without an end for one look is passed on as it is, and again when it is whole.
 */
export function tailOutput(path: string, { onLine, secrets }: TailOptions): Tail {
  const closing = new AbortController();
  const lines = createLineReader(maxLineLength);
  const cover = createCover(secrets);
  const chunk = Buffer.alloc(chunkBytes);
  let offset = 0;
  let grownLooks = 0;

  /** Yields whether there is more. */
  async function look(file: FileHandle): Promise<boolean> {
    const { size } = await file.stat();
    if (size < offset) offset = 0;
    const stands = size === offset;
    const skips = size - offset > maxBehindBytes;
    if (skips) {
      // A tool may have said all that it has to say before the flood began.
      await readTo(file, offset + keptBytes);
      lines.drop();
      offset = size - keptBytes;
    }
    await readTo(file, Math.min(size, offset + maxLookBytes));
    showPartial(stands);
    if (offset < size) return true;
    // What was left out may hold a secret.
    if (offset <= cutBytes && !(skips && secrets.length > 0)) return false;
    await cut(file);
    return false;
  }

  /** The tool appends, so it goes on at the new end. What it says while the file is cut would be lost: nothing may come between. */
  async function cut(file: FileHandle): Promise<void> {
    for (let tries = 1; tries <= cutTries; tries++) {
      const { size } = fstatSync(file.fd);
      if (size === offset || (tries === cutTries && offset > maxBehindBytes)) {
        ftruncateSync(file.fd, 0);
        offset = 0;
        return;
      }
      await readTo(file, Math.min(size, offset + maxLookBytes));
    }
  }

  function showPartial(stands: boolean): void {
    const partial = lines.peek();
    grownLooks = partial === null ? 0 : grownLooks + 1;
    if (partial === null || !(stands || grownLooks % growingLooks === 0)) return;
    onLine(partial);
  }

  async function readTo(file: FileHandle, end: number): Promise<void> {
    let [passed, addresses] = [0, 0];
    while (offset < end) {
      const { bytesRead } = await file.read(chunk, 0, Math.min(chunkBytes, end - offset), offset);
      if (bytesRead === 0) return;
      const bytes = chunk.subarray(0, bytesRead);
      await cover(file, bytes, offset);
      offset += bytesRead;
      if (passed >= maxLines && lines.skip(bytes, "http")) continue;
      for (const line of lines.push(bytes)) {
        passed += 1;
        if (passed > maxLines && line.includes("http")) addresses += 1;
        if (passed <= maxLines || (line.includes("http") && addresses <= maxAddressLines)) onLine(line);
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
      for (let looks = 0; looks < lastLooks && (await look(file)); looks++);
      const partial = lines.peek();
      if (partial !== null) onLine(partial);
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

import { link, lstat, readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { createFileExclusive } from "../lib/atomic-file.ts";
import { randomSecret } from "../lib/ids.ts";
import { notRegularFile } from "../lib/not-regular-file.ts";
import {
  isRunning,
  type ProcessIdentity,
  parseProcessIdentity,
  readProcessIdentity,
} from "../lib/process-identity.ts";

export type LockResult =
  | { readonly held: true; readonly number: number }
  /** `pid` of the daemon that holds it. */
  | { readonly held: false; readonly pid: number };

const prefix = "daemon.lock.";
const temporaryPattern = /^\.daemon\.lock\.[A-Za-z0-9_-]+\.tmp$/;
/** Predecessors that are kept, so that a listing that runs while the lock changes hands still sees a higher number. */
const keptPredecessors = 2;
const maxTries = 100;

/**
 * Takes the lock of a home: of any number of processes that try at once, exactly one gets it, for its whole life. Node has
 * no `flock`, so the lock is a row of numbered files. The holder is the process named by the highest number, while it
 * lives; to follow a dead one, a process links a complete file to the next number (one only can), then looks again and
 * gives up if a higher number is there. Nobody removes his own: a removed number could be taken by one who listed before.
 * What ends the lock is the end of the process, so a `kill -9` leaves nothing to clean up, and a stranger with the same pid
 * is not taken for the holder.
 */
export async function acquireLock(folder: string): Promise<LockResult> {
  const own = await readProcessIdentity(process.pid);
  if (!own) throw new Error("this process cannot be identified on this system");
  const temporary = join(folder, `.${prefix}${randomSecret(9)}.tmp`);
  for (let tries = 0; tries < maxTries; tries++) {
    const highest = await highestNumber(folder);
    if (highest !== null) {
      const holder = await readHolder(join(folder, `${prefix}${highest}`));
      if (holder === "gone") continue;
      if (holder !== null && (await isRunning(holder))) {
        if (holder.pid === own.pid) throw new TypeError("this process holds the lock of this home already");
        return { held: false, pid: holder.pid };
      }
    }
    const number = (highest ?? 0) + 1;
    if (!(await linkNumber(folder, temporary, number, own))) continue;
    if ((await highestNumber(folder)) !== number) continue;
    await tidy(folder, number);
    return { held: true, number };
  }
  throw new Error(`the lock in ${folder} could not be taken: too many others try`);
}

/** Whose the lock is now: null when nobody's. */
export async function lockHolder(folder: string): Promise<ProcessIdentity | null> {
  const highest = await highestNumber(folder);
  if (highest === null) return null;
  const holder = await readHolder(join(folder, `${prefix}${highest}`));
  return holder !== null && holder !== "gone" && (await isRunning(holder)) ? holder : null;
}

async function linkNumber(
  folder: string,
  temporary: string,
  number: number,
  own: ProcessIdentity,
): Promise<boolean> {
  await createFileExclusive(temporary, `${JSON.stringify(own)}\n`);
  try {
    await link(temporary, join(folder, `${prefix}${number}`));
    return true;
  } catch (error) {
    // EEXIST: another was first. ENOENT: a new holder tidied our temporary file away. Both are found out by looking again.
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "EEXIST" || code === "ENOENT") return false;
    throw error;
  } finally {
    await unlinkIfThere(temporary);
  }
}

async function numbersIn(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names
    .filter((name) => name.startsWith(prefix) && /^[1-9]\d{0,11}$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)));
}

async function highestNumber(folder: string): Promise<number | null> {
  const numbers = await numbersIn(folder);
  return numbers.length === 0 ? null : Math.max(...numbers);
}

/**
 * A file that does not parse names nobody: it was complete when it was linked, so it was damaged by a fall of the machine.
 * What is no file was put there by somebody: a pipe would be waited for without end, a link could hide a holder.
 */
async function readHolder(path: string): Promise<ProcessIdentity | null | "gone"> {
  try {
    if (!(await lstat(path)).isFile()) throw notRegularFile(path);
    return parseProcessIdentity(JSON.parse(await readFile(path, "utf8")));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "gone";
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

async function tidy(folder: string, own: number): Promise<void> {
  for (const number of await numbersIn(folder))
    if (number < own - keptPredecessors) await unlinkIfThere(join(folder, `${prefix}${number}`));
  for (const name of await readdir(folder))
    if (temporaryPattern.test(name)) await unlinkIfThere(join(folder, name));
}

async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

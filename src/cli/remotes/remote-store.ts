import { stat, unlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { HomePaths } from "../../config/home-paths.ts";
import { checkHome } from "../../daemon/check-home.ts";
import { createFileExclusive, writeFileAtomic } from "../../lib/atomic-file.ts";
import { readSecretFile } from "../../lib/secret-file.ts";
import { failedError, usageError } from "../cli-error.ts";
import { quoteWord } from "../quote.ts";
import { inline } from "../text.ts";
import { formatRemotes, type KnownRemote, parseRemotes } from "./remote-file.ts";

const maxBytes = 1024 * 1024;
const lockTries = 100;
const lockPollMs = 50;
/** Nobody needs so long to write a small file: what is older was left behind by a process that was killed. */
const staleLockMs = 15_000;

/** The paired daemons. A missing file is none; a damaged or unsafe one is refused, and left as it is. */
export async function readRemotes(paths: HomePaths): Promise<readonly KnownRemote[]> {
  const path = paths.remotes;
  const read = await readSecretFile(path, maxBytes);
  if (!read.ok) {
    if (read.problem === "missing") return [];
    if (read.problem === "readable_by_others")
      throw failedError(
        `${path} can be read by others (${read.detail}), and it holds tokens. Run: chmod 600 ${quoteWord(path)}`,
      );
    throw failedError(`${path} is not to be trusted (${read.detail}). ${setAside(path)}`);
  }
  const parsed = parseRemotes(read.text);
  if (!parsed.ok) throw failedError(`${path} cannot be used: ${parsed.problem}. ${setAside(path)}`);
  return parsed.remotes;
}

/** Changes the list under a lock, so that two commands at once lose nothing. */
export async function changeRemotes(
  paths: HomePaths,
  change: (remotes: readonly KnownRemote[]) => readonly KnownRemote[],
): Promise<void> {
  await checkHome(paths.home);
  const lock = `${paths.remotes}.lock`;
  await takeLock(lock);
  try {
    await writeFileAtomic(paths.remotes, formatRemotes(change(await readRemotes(paths))));
  } finally {
    await unlink(lock);
  }
}

/** The one called `name`, or wrong usage that names those there are. */
export async function findRemote(paths: HomePaths, name: string): Promise<KnownRemote> {
  const remotes = await readRemotes(paths);
  const found = remotes.find((remote) => remote.name === name);
  if (found) return found;
  throw usageError(
    remotes.length === 0
      ? `There is no remote "${inline(name)}"; there are none yet. Pair one: sallyport connect add NAME URL`
      : `There is no remote "${inline(name)}"; there are: ${remotes.map((remote) => remote.name).join(", ")}. Pair one: sallyport connect add NAME URL`,
  );
}

async function takeLock(path: string): Promise<void> {
  for (let tries = 0; tries < lockTries; tries += 1) {
    try {
      await createFileExclusive(path, "");
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const found = await stat(path).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > staleLockMs) await unlink(path).catch(() => undefined);
    await delay(lockPollMs);
  }
  throw failedError(`Another command is changing the remotes. If none is, remove ${quoteWord(path)}`);
}

function setAside(path: string): string {
  return `It was left as it is. Repair it, or set it aside and pair again: mv ${quoteWord(path)} ${quoteWord(`${path}.aside`)}`;
}

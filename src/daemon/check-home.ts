import type { Stats } from "node:fs";
import { chmod, lstat, mkdir, readlink } from "node:fs/promises";
import { dirname, join, parse, sep } from "node:path";
import { type FolderFacts, homeProblem, parentProblem } from "./judge-folder.ts";
import { StartupError } from "./startup-error.ts";

const maxLinks = 40;

/**
 * Makes sure of the home before anything in it is believed: it exists (or is made, 0700), is this user's, and nobody
 * else can write to it or put another in its place. Every folder and link on the way is looked at. A home that others
 * can only read is closed to them.
 *
 * @param home absolute path
 * @throws StartupError `home`
 */
export async function checkHome(home: string): Promise<void> {
  const uid = process.getuid?.() ?? null;
  try {
    const found = await walk(home, uid);
    if (found === null) {
      await mkdir(home, { recursive: true, mode: 0o700 });
      const made = await walk(home, uid);
      if (made === null) throw new StartupError("home", `The home ${home} vanished while it was made.`);
      refuseIf(homeProblem(made, uid));
      return;
    }
    refuseIf(homeProblem(found, uid));
    if (uid !== null && (found.mode & 0o077) !== 0) await chmod(found.path, 0o700);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    throw new StartupError("home", `The home ${home} cannot be used (${code}). Name another with --home.`, {
      cause: error,
    });
  }
}

/** Follows `path` name by name, judging all but its end; the facts of its end, or null when it (or a parent) is missing. */
async function walk(path: string, uid: number | null): Promise<FolderFacts | null> {
  let current = parse(path).root;
  let names = namesOf(path);
  let links = 0;
  let facts = factsOf(current, await lstat(current));
  while (true) {
    const name = names.shift();
    if (name === undefined) return facts;
    refuseIf(parentProblem(facts, uid));
    const next = join(current, name);
    const stat = await lstat(next).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw error;
    });
    if (stat === null) return null;
    if (stat.isSymbolicLink()) {
      refuseIf(parentProblem(factsOf(next, stat), uid));
      if (++links > maxLinks) throw new StartupError("home", `${next} leads through too many links.`);
      const target = await readlink(next);
      names = [...namesOf(target), ...names];
      if (target.startsWith(sep)) current = parse(target).root;
      facts = factsOf(current, await lstat(current));
      continue;
    }
    current = name === ".." ? dirname(current) : next;
    facts = factsOf(current, stat);
  }
}

function namesOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((name) => name !== "" && name !== ".");
}

function factsOf(path: string, stat: Stats): FolderFacts {
  const kind = stat.isDirectory() ? "folder" : stat.isSymbolicLink() ? "link" : "other";
  return { path, uid: stat.uid, mode: stat.mode & 0o7777, kind };
}

function refuseIf(problem: string | null): void {
  if (problem !== null) throw new StartupError("home", problem);
}

import { lstat, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import type { HomePaths } from "../../config/home-paths.ts";
import { type FolderFacts, homeProblem, parentProblem } from "../../daemon/judge-folder.ts";
import { quoteWord } from "../quote.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Is the home this user's alone, and is every file in it? Only looks: nothing is made or changed. */
export async function checkHomeFiles(paths: HomePaths): Promise<readonly Finding[]> {
  const uid = process.getuid?.() ?? null;
  const home = await factsOf(paths.home);
  if (home === null) return [ok("home", `${paths.home} does not exist yet; the first start makes it`)];
  const problem = homeProblem(home, uid) ?? (await problemAbove(home.path, uid));
  if (problem !== null) return [fail("home", problem, null)];
  const findings: Finding[] = [];
  const isShut = uid === null || (home.mode & 0o077) === 0;
  if (!isShut)
    findings.push(
      fail(
        "home",
        `${home.path} can be read by others (mode ${octal(home.mode)})`,
        `chmod 700 ${quoteWord(home.path)}`,
      ),
    );
  else findings.push(ok("home", `${home.path} is yours alone`));
  return [...findings, await checkFiles(paths, uid, isShut)];
}

/** @param isShut nobody else comes as far as the files: then those that hold no secret by themselves are only warned of */
async function checkFiles(paths: HomePaths, uid: number | null, isShut: boolean): Promise<Finding> {
  const files = [
    paths.config,
    paths.credentials,
    paths.state,
    paths.daemonFile,
    paths.daemonToken,
    paths.daemonKey,
    paths.daemonLog,
    paths.devices,
    paths.audit,
    paths.receipts,
    paths.remotes,
    paths.push,
  ];
  const open: string[] = [];
  const foreign: string[] = [];
  for (const path of files) {
    const found = await lstat(path).catch(() => null);
    if (found === null || uid === null || found.isSymbolicLink()) continue;
    if (found.uid !== uid) foreign.push(path);
    else if ((found.mode & 0o077) !== 0) open.push(path);
  }
  const all = (bad: readonly string[]): string => bad.map(quoteWord).join(" ");
  if (foreign.length > 0)
    return fail(
      "files",
      `Files that belong to another user: ${all(foreign)}`,
      `chown "$(id -un)" ${all(foreign)}`,
    );
  if (open.length > 0) {
    const say = isShut && open.every((path) => path === paths.config) ? warn : fail;
    return say("files", `Files that others can read: ${all(open)}`, `chmod 600 ${all(open)}`);
  }
  return ok("files", "every file is yours alone");
}

async function problemAbove(home: string, uid: number | null): Promise<string | null> {
  for (let path = dirname(home); ; path = dirname(path)) {
    const facts = await factsOf(path);
    const problem = facts === null ? null : parentProblem(facts, uid);
    if (problem !== null) return problem;
    if (path === dirname(path)) return null;
  }
}

async function factsOf(path: string): Promise<FolderFacts | null> {
  const real = await realpath(path).catch(() => path);
  const stat = await lstat(real).catch(() => null);
  if (stat === null) return null;
  return {
    path: real,
    uid: stat.uid,
    mode: stat.mode & 0o7777,
    kind: stat.isDirectory() ? "folder" : stat.isSymbolicLink() ? "link" : "other",
  };
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8);
}

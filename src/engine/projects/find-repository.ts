import { lstat, opendir, realpath } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { isWithin } from "../../lib/path-within.ts";
import { engineLimits } from "../engine-limits.ts";
import type { ProjectBounds } from "./project-bounds.ts";

const maxLevels = 64;
const maxGitFileBytes = 4_096;

/**
 * The root of the repository that a folder lies in: the nearest folder upwards with a `.git` folder, or a `.git` file as
 * worktrees and submodules have it. Git is never run. Null where there is none, or it lies above what may be browsed.
 *
 * @param cwd real path
 */
export async function findRepository(cwd: string, bounds: ProjectBounds): Promise<string | null> {
  const browseRoot = await realpath(bounds.browseRoot).catch(() => null);
  const top = browseRoot !== null && isWithin(cwd, browseRoot) ? browseRoot : null;
  let folder = cwd;
  for (let level = 0; level < maxLevels; level += 1) {
    if (await hasGit(folder)) return folder;
    if (folder === top || dirname(folder) === folder) return null;
    folder = dirname(folder);
  }
  return null;
}

async function hasGit(folder: string): Promise<boolean> {
  const found = await lstat(join(folder, ".git")).catch(() => null);
  if (!found) return false;
  if (found.isFile()) return found.size > 0 && found.size <= maxGitFileBytes;
  return found.isDirectory() && (await lstat(join(folder, ".git", "HEAD")).catch(() => null)) !== null;
}

/** The visible folders beside `cwd`, relative to the root and in order; none at the root itself. */
export async function listSiblings(cwd: string, root: string, bounds: ProjectBounds): Promise<string[]> {
  if (cwd === root) return [];
  const parent = dirname(cwd);
  const home = await realpath(bounds.homeFolder).catch(() => null);
  const names: string[] = [];
  let scanned = 0;
  try {
    for await (const entry of await opendir(parent, { bufferSize: 256 })) {
      scanned += 1;
      if (scanned > engineLimits.projectEntriesScanned) break;
      if (!entry.isDirectory() || entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const path = join(parent, entry.name);
      // A name that is no UTF-8 could not be asked for.
      if (path !== cwd && path !== home && !entry.name.includes("\ufffd")) names.push(relative(root, path));
    }
  } catch {
    // Not readable: then no siblings are known.
    return [];
  }
  return names.sort().slice(0, engineLimits.projectSiblings);
}

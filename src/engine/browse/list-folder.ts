import type { Dirent, Stats } from "node:fs";
import { lstat, opendir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isWithin } from "../../lib/path-within.ts";
import type { Folder, FolderEntry } from "../../protocol/rest-objects.ts";
import { sameFile } from "../files/off-limits.ts";
import { type OpenedFolder, withFolder } from "../files/resolve-folder.ts";
import { gitLabel } from "./git-label.ts";
import { asBrowseRefusal } from "./refusal.ts";

export interface BrowseLimits {
  /** The folder of Sallyport itself; never listed, never shown. */
  readonly homeFolder: string;
  readonly userHome: string;
  readonly browseRoot: string;
}

export interface BrowseQuery {
  /** Absolute, `~` or `~/…`; without one the root of what may be browsed. */
  readonly path?: string;
  readonly files?: boolean;
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly after?: string;
}

const browseDefaultEntries = 500;
/** A folder with more entries than this is listed in part; looking at all of them would take seconds. */
const maxScanned = 50_000;
const atOnce = 16;

interface Where {
  readonly realPath: string;
  /** A path that leads to the opened folder, whatever was renamed since. */
  readonly stablePath: string;
  readonly realRoot: string;
  readonly home: Stats;
  readonly realHome: string;
  readonly limits: BrowseLimits;
}

/**
 * Lists the subfolders of a folder, with `files` also its regular files, in the order of their names. Links are shown where
 * they lead to something that may be browsed. What is listed is the opened folder, not its name.
 *
 * @throws SallyportError invalid_field (no absolute path, no folder), not_found, path_refused (outside the root, in the
 *   home, not readable: one text for all)
 */
export async function listFolder(query: BrowseQuery, limits: BrowseLimits): Promise<Folder> {
  try {
    return await withFolder(query.path ?? limits.browseRoot, limits, "path", (folder) =>
      list(folder, query, limits),
    );
  } catch (error) {
    throw await asBrowseRefusal(error, query.path ?? limits.browseRoot, limits);
  }
}

async function list(folder: OpenedFolder, query: BrowseQuery, limits: BrowseLimits): Promise<Folder> {
  const { realPath, handle } = folder;
  const realHome = await realpath(limits.homeFolder);
  const where: Where = {
    realPath,
    stablePath: process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : realPath,
    realRoot: await realpath(limits.browseRoot),
    home: await stat(limits.homeFolder),
    realHome,
    limits,
  };
  const { names, truncated } = await candidates(where.stablePath, query.files === true);
  const { after } = query;
  const rest = after === undefined ? names : names.filter((name) => compareNames(name, after) > 0);
  const limit = query.limit ?? browseDefaultEntries;
  const entries: FolderEntry[] = [];
  let used = 0;
  while (used < rest.length && entries.length < limit) {
    const batch = rest.slice(used, used + Math.min(atOnce, limit - entries.length));
    const described = await Promise.all(batch.map((name) => describe(name, where, query.files === true)));
    entries.push(...described.filter((entry) => entry !== null));
    used += batch.length;
  }
  return {
    path: realPath,
    parent: realPath === where.realRoot ? null : dirname(realPath),
    root: where.realRoot,
    git: await gitLabel(realPath, limits),
    entries,
    next: used < rest.length ? (rest[used - 1] ?? null) : null,
    truncated,
  };
}

/** Names that may be shown, in order. What only a look at the file can tell is left for the page that it is on. */
async function candidates(
  path: string,
  files: boolean,
): Promise<{ readonly names: readonly string[]; readonly truncated: boolean }> {
  const names: string[] = [];
  let scanned = 0;
  for await (const entry of await opendir(path, { bufferSize: 256 })) {
    scanned += 1;
    if (scanned > maxScanned) return { names: names.sort(compareNames), truncated: true };
    // A name that is no UTF-8 could not be asked for.
    if (mayShow(entry, files) && !entry.name.includes("\ufffd")) names.push(entry.name);
  }
  return { names: names.sort(compareNames), truncated: false };
}

function mayShow(entry: Dirent, files: boolean): boolean {
  if (entry.isDirectory() || entry.isSymbolicLink()) return true;
  if (entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice()) return false;
  // Some file systems do not tell the kind of an entry: then it is neither.
  return files || !entry.isFile();
}

async function describe(name: string, where: Where, files: boolean): Promise<FolderEntry | null> {
  const own = await lstat(join(where.stablePath, name)).catch(() => null);
  if (!own) return null;
  const path = join(where.realPath, name);
  const isLink = own.isSymbolicLink();
  const target = isLink ? await targetOf(join(where.stablePath, name), where) : { path, stat: own };
  if (!target || sameFile(target.stat, where.home)) return null;
  const isFolder = target.stat.isDirectory();
  if (!isFolder && !(files && target.stat.isFile())) return null;
  return {
    name,
    path,
    kind: isFolder ? "folder" : "file",
    hidden: name.startsWith("."),
    link: isLink,
    git: isFolder ? await gitLabel(target.path, where.limits) : null,
    bytes: isFolder ? null : target.stat.size,
    modified: timeOf(target.stat.mtimeMs),
  };
}

async function targetOf(
  link: string,
  where: Where,
): Promise<{ readonly path: string; readonly stat: Stats } | null> {
  // A link that leads nowhere, or in a circle, or to where we may not look, is not shown.
  const path = await realpath(link).catch(() => null);
  if (path === null || !isWithin(path, where.realRoot) || isWithin(path, where.realHome)) return null;
  const found = await stat(path).catch(() => null);
  return found && { path, stat: found };
}

function timeOf(ms: number): string | null {
  return Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString() : null;
}

/** By letters whatever their case, then by code units: a total order, the same on every machine. */
function compareNames(a: string, b: string): number {
  const [low, high] = [a.toLowerCase(), b.toLowerCase()];
  if (low !== high) return low < high ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

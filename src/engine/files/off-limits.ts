import type { Stats } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A file is its device and inode, whatever it is called. */
export interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
}

const maxAncestors = 512;
/** A home with more entries than this cannot be searched for a hard link in time: then such a file is refused. */
const maxHomeEntries = 100_000;

/** By device and inode, so under every name, also through a hard link or a bind mount. */
export function sameFile(one: FileIdentity, other: FileIdentity): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/** The identity of a folder and of everything above it, nearest first. Throws the error of `stat`. */
export async function ancestorsOf(realFolder: string): Promise<FileIdentity[]> {
  const found: FileIdentity[] = [];
  for (let path = realFolder; found.length < maxAncestors; path = dirname(path)) {
    const { dev, ino } = await stat(path);
    found.push({ dev, ino });
    if (dirname(path) === path) return found;
  }
  throw Object.assign(new Error("too deep"), { code: "ENAMETOOLONG" });
}

/**
 * True if any of these folders is the home or a folder directly in it. Compared by identity: a bind mount, another case
 * on a forgiving file system or a renamed parent is the same folder.
 */
export async function touchesHome(folders: readonly FileIdentity[], homeFolder: string): Promise<boolean> {
  const homeIdentities = await homeFolders(homeFolder);
  return folders.some((folder) => homeIdentities.some((home) => sameFile(home, folder)));
}

async function homeFolders(homeFolder: string): Promise<FileIdentity[]> {
  const home = await stat(homeFolder);
  const entries = await readdir(homeFolder, { withFileTypes: true });
  const inside = await Promise.all(
    entries.filter((entry) => entry.isDirectory()).map((entry) => statIfThere(join(homeFolder, entry.name))),
  );
  return [home, ...inside.filter((found) => found !== null)];
}

/**
 * True if this file has another name inside the home: a hard link to it, or a bind mount of one of its top files. Only
 * files with several names are searched for in the whole home.
 */
export async function isFileOfHome(file: Stats, homeFolder: string): Promise<boolean> {
  let left = maxHomeEntries;
  const search = async (folder: string, deep: boolean): Promise<boolean> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      left -= 1;
      if (left < 0) return true;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (deep && (await search(path, true))) return true;
        continue;
      }
      const found = await statIfThere(path);
      if (found && sameFile(found, file)) return true;
    }
    return false;
  };
  return search(homeFolder, file.nlink > 1);
}

async function statIfThere(path: string): Promise<Stats | null> {
  return lstat(path).catch((error: NodeJS.ErrnoException) => {
    // It was removed while we looked; jobs and sessions come and go.
    if (error.code === "ENOENT") return null;
    throw error;
  });
}

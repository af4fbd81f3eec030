import type { Stats } from "node:fs";
import { type FileHandle, readlink, realpath, stat, statfs } from "node:fs/promises";
import { sameFile } from "./off-limits.ts";

/** Linux magic numbers of file systems whose "regular files" are the kernel's and other processes' insides (proc, sysfs…). */
const kernelFileSystems: ReadonlySet<number> = new Set([
  0x9fa0, 0x62656572, 0x64626720, 0x74726163, 0x73636673, 0xcafe4a11, 0x63677270, 0x27e0eb,
]);

/**
 * The real path of an opened file. Linux tells it of the handle itself; elsewhere the path is resolved again. Either way
 * what stands there now must be the opened file, so that one renamed or swapped meanwhile yields null.
 */
export async function pathOfOpened(
  handle: FileHandle,
  openedAs: string,
  opened: Stats,
): Promise<string | null> {
  const path =
    process.platform === "linux"
      ? await readlink(`/proc/self/fd/${handle.fd}`).catch(() => realpath(openedAs))
      : await realpath(openedAs);
  if (!path.startsWith("/") && process.platform !== "win32") return null;
  const there = await stat(path).catch(() => null);
  return there && sameFile(there, opened) ? path : null;
}

/** True for a path on a pseudo file system: /proc/self/environ is a regular file and holds our environment. */
export async function isKernelFile(realPath: string): Promise<boolean> {
  if (process.platform !== "linux") return false;
  if (/^\/(?:proc|sys|dev)(?:\/|$)/.test(realPath) && !realPath.startsWith("/dev/shm/")) return true;
  return kernelFileSystems.has((await statfs(realPath)).type);
}

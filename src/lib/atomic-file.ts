import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, realpath, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { randomSecret } from "./ids.ts";
import { notRegularFile } from "./not-regular-file.ts";

const newFileFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Writes out a folder's entries, so that a rename in it survives a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Creates `path` (0600 by its mode, not by a umask) and writes `data`; fails with EEXIST when it is there already.
 * The data is on disk when the promise resolves.
 */
export async function createFileExclusive(path: string, data: string | Uint8Array): Promise<void> {
  const handle = await open(path, newFileFlags, 0o600);
  try {
    await writeWhole(handle, data, true);
  } finally {
    await handle.close();
  }
  await syncFolder(dirname(path));
}

/**
 * Replaces `path` in one step: temporary file beside it, fsync, rename, fsync of the folder. A link is resolved first, so
 * that it stays a link; one that leads to no regular file is refused (EINVAL). A reader sees the old or the new content, whatever dies in between. Mode 0600.
 * With `sync: false` nothing waits for the disk: it survives this process, but perhaps not a power cut.
 */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: { readonly sync?: boolean } = {},
): Promise<void> {
  const sync = options.sync ?? true;
  const target = await resolveLink(path);
  const temporary = join(dirname(target), `.${basename(target)}.${randomSecret(6)}.tmp`);
  const handle = await open(temporary, newFileFlags, 0o600);
  try {
    try {
      await writeWhole(handle, data, sync);
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
  } catch (error) {
    // Whoever retries on a refusing disk must not leave a file a time; the error that matters is the first one.
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  if (sync) await syncFolder(dirname(target));
}

/** Creates a folder and its parents with mode 0700; one that exists is left as it is. */
export async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

async function writeWhole(handle: FileHandle, data: string | Uint8Array, sync: boolean): Promise<void> {
  await handle.chmod(0o600);
  await handle.writeFile(data);
  if (sync) await handle.sync();
}

async function resolveLink(path: string): Promise<string> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (!found?.isSymbolicLink()) return path;
  const target = await realpath(path);
  // A rename would put a file in the place of whatever the link leads to: a device, for one who may do that.
  if (!(await lstat(target)).isFile()) throw notRegularFile(target);
  return target;
}

import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import {
  access,
  type FileHandle,
  lstat,
  mkdir,
  open,
  realpath,
  rename,
  stat,
  unlink,
} from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { SallyportError } from "../../errors.ts";
import { ancestorsOf, isFileOfHome, sameFile, touchesHome } from "./off-limits.ts";
import { isKernelFile, pathOfOpened } from "./opened-path.ts";
import { checkPathText } from "./path-text.ts";

export interface WriteLimits {
  /** The folder of Sallyport itself; nothing in it is ever written for an agent. */
  readonly homeFolder: string;
  /** Of the file as it is: what is larger is not replaced. */
  readonly maxBytes: number;
}

/** What a write to a path would really change. */
export interface WriteTarget {
  /** Links resolved: what is judged, shown and written. */
  readonly realPath: string;
  /** The file as it is; null where there is none yet. */
  readonly before: Buffer | null;
}

/**
 * Says what a write to `rawPath` would change, without changing anything. Links are followed first, the last one too.
 *
 * @param rawPath absolute
 * @throws SallyportError invalid_field (no absolute path, a folder in the file's place), path_refused, too_large
 */
export function findWriteTarget(rawPath: string, limits: WriteLimits): Promise<WriteTarget> {
  return refusing(() => findTarget(rawPath, limits));
}

async function findTarget(rawPath: string, limits: WriteLimits): Promise<WriteTarget> {
  const realPath = await realTarget(rawPath, limits);
  // Opening alone can do something to a device; the check that counts is the one on the opened file.
  const named = await lstat(realPath).catch(() => null);
  if (named?.isDirectory()) throw notAFile();
  if (named && !named.isFile()) throw refuse("it is not a regular file");
  const handle = await open(realPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
      throw refuse(`it cannot be opened (${error.code ?? "unknown error"})`, error);
    },
  );
  if (!handle) return { realPath, before: null };
  try {
    const opened = await handle.stat();
    await checkFile(realPath, opened, limits);
    if (opened.size > limits.maxBytes) throw tooLarge(limits);
    return { realPath, before: await readWhole(handle, limits) };
  } finally {
    await handle.close();
  }
}

/**
 * The real path of a file or folder that somebody wants to write, move or delete. Nothing is opened or read, however large
 * it is. Throws as `findWriteTarget` does.
 */
export function realWriteTarget(rawPath: string, homeFolder: string): Promise<string> {
  return refusing(async () => {
    const realPath = await realTarget(rawPath, { homeFolder });
    const named = await lstat(realPath).catch(() => null);
    if (named?.isDirectory()) await checkFolder(realPath, { homeFolder });
    else if (named?.isFile()) await checkFile(realPath, named, { homeFolder });
    else if (named) throw refuse("it is not a regular file");
    return realPath;
  });
}

/** What is renamed or removed while it is looked at is no fault of ours: any error of the system is a refusal. */
async function refusing<T>(look: () => Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (error) {
    throw asRefusal(error);
  }
}

async function realTarget(rawPath: string, limits: Pick<WriteLimits, "homeFolder">): Promise<string> {
  checkPathText(rawPath, "path");
  const realPath = await followLinks(resolve(rawPath));
  await checkFolder(await nearestFolder(dirname(realPath)), limits);
  return realPath;
}

/** A file that grows meanwhile is not read for ever. */
async function readWhole(handle: FileHandle, limits: WriteLimits): Promise<Buffer> {
  const { size } = await handle.stat();
  const bytes = Buffer.alloc(Math.min(size, limits.maxBytes) + 1);
  for (let length = 0; ; ) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
    length += bytesRead;
    if (length > limits.maxBytes) throw tooLarge(limits);
    if (length === bytes.length) throw changed();
    if (bytesRead === 0) return bytes.subarray(0, length);
  }
}

/**
 * Writes a file that `findWriteTarget` found, whole and at once: beside its place, then renamed over it. On Linux every
 * step goes through the opened folder, so that a folder that is swapped for a link meanwhile leads nowhere else.
 *
 * @throws SallyportError conflict (`changed`: the path leads elsewhere now), path_refused, disk_full
 */
export async function writeForAgent(target: WriteTarget, text: string, limits: WriteLimits): Promise<void> {
  const { realPath } = target;
  const folder = dirname(realPath);
  await refusing(async () => {
    const handle = await makeFolder(folder, limits);
    try {
      await replace(join(placeOf(handle, folder), basename(realPath)), realPath, text, limits);
    } finally {
      await handle.close();
    }
  });
}

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Opens a folder and makes what is missing of it, step by step below folders that are open and were checked. */
async function makeFolder(folder: string, limits: WriteLimits): Promise<FileHandle> {
  let at = await nearestFolder(folder);
  const missing = relative(at, folder).split(sep);
  let handle = await openChecked(at, at, limits);
  for (const name of missing) {
    if (name === "") continue;
    const place = join(placeOf(handle, at), name);
    at = join(at, name);
    try {
      await mkdir(place).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      });
      const next = await openChecked(place, at, limits);
      await handle.close();
      handle = next;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
  return handle;
}

async function openChecked(place: string, folder: string, limits: WriteLimits): Promise<FileHandle> {
  const handle = await open(place, folderFlags);
  try {
    if ((await pathOfOpened(handle, folder, await handle.stat())) !== folder) throw changed();
    await checkFolder(folder, limits);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A name below an open folder, which stays this folder wherever its path leads meanwhile (Linux). */
function placeOf(handle: FileHandle, folder: string): string {
  return process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : folder;
}

async function replace(place: string, realPath: string, text: string, limits: WriteLimits): Promise<void> {
  const there = await lstat(place).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (there?.isSymbolicLink()) throw changed();
  if (there) {
    // A rename needs no right to the file itself; what its owner made read-only stays as it is.
    await access(place, constants.W_OK);
    if (!there.isFile()) throw refuse("it is not a regular file");
    if (there.nlink > 1) return writeInPlace(place, realPath, text, limits);
  }
  const beside = join(dirname(place), `.${randomBytes(6).toString("hex")}.tmp`);
  const handle = await open(
    beside,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o666,
  );
  try {
    try {
      if (there) await handle.chmod(there.mode & 0o7777);
      await handle.writeFile(text);
    } finally {
      await handle.close();
    }
    await rename(beside, place);
  } catch (error) {
    // Never renamed: what is left of it is ours.
    await unlink(beside).catch(() => undefined);
    throw error;
  }
}

/** A file with several names keeps them all. */
async function writeInPlace(
  place: string,
  realPath: string,
  text: string,
  limits: WriteLimits,
): Promise<void> {
  const handle = await open(place, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await checkFile(realPath, await handle.stat(), limits);
    await handle.truncate(0);
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

/** Follows links on the way and the last one; what is missing at the end stays as it is spelt. */
async function followLinks(path: string): Promise<string> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const found = await lstat(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      if (error.code === "ENOTDIR") throw notAFile();
      throw refuse(`it cannot be looked at (${error.code ?? "unknown error"})`, error);
    });
    if (found) {
      const real = await realpath(at).catch((error: NodeJS.ErrnoException) => {
        throw refuse("a link on its way leads nowhere", error);
      });
      return join(real, ...missing);
    }
    if (dirname(at) === at) throw notAFile();
    missing.unshift(basename(at));
  }
}

async function nearestFolder(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const found = await stat(at).catch(() => null);
    if (found?.isDirectory()) return at;
    if (found || dirname(at) === at) throw notAFile();
  }
}

async function checkFolder(folder: string, limits: Pick<WriteLimits, "homeFolder">): Promise<void> {
  if (await isKernelFile(folder)) throw refuse("it belongs to the operating system's own file systems");
  if (await touchesHome(await ancestorsOf(folder), limits.homeFolder))
    throw refuse("Sallyport's own files are off limits");
}

async function checkFile(
  realPath: string,
  opened: Stats,
  limits: Pick<WriteLimits, "homeFolder">,
): Promise<void> {
  if (opened.isDirectory()) throw notAFile();
  if (!opened.isFile()) throw refuse("it is not a regular file");
  const there = await stat(realPath).catch(() => null);
  if (!there || !sameFile(there, opened)) throw changed();
  if (await isFileOfHome(opened, limits.homeFolder)) throw refuse("Sallyport's own files are off limits");
}

function asRefusal(error: unknown): unknown {
  if (error instanceof SallyportError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ELOOP" || code === "ENOTDIR" || code === "ENOENT") return changed();
  if (code === "ENOSPC" || code === "EDQUOT")
    return new SallyportError("disk_full", "There is no room on the disk for this file.", { cause: error });
  return refuse(`it cannot be written (${code ?? "unknown error"})`, error);
}

function tooLarge({ maxBytes }: WriteLimits): SallyportError {
  return new SallyportError("too_large", `A file of more than ${maxBytes} bytes is not replaced.`, {
    field: "path",
  });
}

function notAFile(): SallyportError {
  return new SallyportError("invalid_field", "`path` does not name a file in a folder.", { field: "path" });
}

function changed(): SallyportError {
  return new SallyportError("conflict", "The path leads elsewhere than when it was asked for.", {
    reason: "changed",
    field: "path",
  });
}

function refuse(reason: string, cause?: unknown): SallyportError {
  return new SallyportError("path_refused", `This file is not written: ${reason}.`, { field: "path", cause });
}

import { constants, type Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { SallyportError } from "../../errors.ts";
import { nearestIsWithin } from "./nearest-within.ts";
import { ancestorsOf, isFileOfHome, sameFile, touchesHome } from "./off-limits.ts";
import { isKernelFile, pathOfOpened } from "./opened-path.ts";
import { checkPathText } from "./path-text.ts";

const outside = "it lies outside the folder that may be browsed";

export interface FileLimits {
  /** The folder of Sallyport itself; nothing in it is ever opened for an agent or a device. */
  readonly homeFolder: string;
  /** The file must lie below this folder; null for no such bound. */
  readonly browseRoot: string | null;
}

export interface OpenedFile {
  /** Open for reading; the caller closes it and reads from it, never by the path again. */
  readonly handle: FileHandle;
  readonly realPath: string;
  readonly stat: Stats;
}

/**
 * Opens a file for an agent or a device. Links are followed and then everything is checked on the opened file, so that no
 * rename in between matters: a regular file (a FIFO cannot hang it, a device is never read), not of the kernel, not in
 * the home by any name, below `browseRoot`. Outside the root the answer is one, whatever is or is not there.
 *
 * @param rawPath absolute
 * @throws SallyportError invalid_field (no absolute path), not_found, path_refused
 */
export async function openForAgent(rawPath: string, limits: FileLimits): Promise<OpenedFile> {
  checkPathText(rawPath, "path");
  try {
    return await openChecked(rawPath, limits);
  } catch (error) {
    if (limits.browseRoot !== null && !(await nearestIsWithin(rawPath, limits.browseRoot)))
      throw refuse(outside);
    throw error;
  }
}

async function openChecked(rawPath: string, limits: FileLimits): Promise<OpenedFile> {
  // Opening alone can do something to a device; the check that counts is the one on the opened file.
  const named = await stat(rawPath).catch((error: NodeJS.ErrnoException) => {
    throw refusalOf(error);
  });
  if (!named.isFile()) throw refuse("it is not a regular file");
  const handle = await open(rawPath, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY).catch(
    (error: NodeJS.ErrnoException) => {
      throw refusalOf(error);
    },
  );
  try {
    const opened = await handle.stat();
    return { handle, realPath: await checkOpened(handle, rawPath, opened, limits), stat: opened };
  } catch (error) {
    await handle.close();
    throw error instanceof SallyportError ? error : refuse("it cannot be checked", error);
  }
}

async function checkOpened(
  handle: FileHandle,
  rawPath: string,
  opened: Stats,
  limits: FileLimits,
): Promise<string> {
  if (!opened.isFile()) throw refuse("it is not a regular file");
  const realPath = await pathOfOpened(handle, rawPath, opened);
  if (realPath === null) throw refuse("it was moved or replaced while it was opened");
  if (await isKernelFile(realPath)) throw refuse("it belongs to the operating system's own file systems");
  const ancestors = await ancestorsOf(dirname(realPath));
  if ((await touchesHome(ancestors, limits.homeFolder)) || (await isFileOfHome(opened, limits.homeFolder)))
    throw refuse("Sallyport's own files are off limits");
  if (limits.browseRoot !== null) {
    const root = await stat(limits.browseRoot);
    if (!ancestors.some((folder) => sameFile(folder, root))) throw refuse(outside);
  }
  return realPath;
}

function refusalOf(error: NodeJS.ErrnoException): SallyportError {
  if (error.code === "ENOENT" || error.code === "ENOTDIR")
    return new SallyportError("not_found", "There is no such file.", { field: "path", cause: error });
  return refuse(`it cannot be opened (${error.code ?? "unknown error"})`, error);
}

function refuse(reason: string, cause?: unknown): SallyportError {
  return new SallyportError("path_refused", `This file is not opened: ${reason}.`, { field: "path", cause });
}

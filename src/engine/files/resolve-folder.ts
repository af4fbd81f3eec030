import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { SallyportError } from "../../errors.ts";
import { nearestIsWithin } from "./nearest-within.ts";
import { ancestorsOf, sameFile, touchesHome } from "./off-limits.ts";
import { pathOfOpened } from "./opened-path.ts";
import { checkPathText } from "./path-text.ts";

const outside = "it lies outside the folder that may be browsed";

export interface FolderLimits {
  /** The folder of Sallyport itself. A folder in it is refused; one that contains it is not. */
  readonly homeFolder: string;
  /** What `~` stands for. */
  readonly userHome: string;
  /** The folder must be this one or lie below it; null for no such bound. */
  readonly browseRoot: string | null;
}

/**
 * The real path of a folder that a client names for a tab: absolute, or `~` or `~/…`.
 *
 * @param field name of the field in refusals
 * @throws SallyportError invalid_field (not absolute, does not exist, is no folder), path_refused (in the home, outside
 *   `browseRoot` whether it exists or not, not readable)
 */
export async function resolveFolder(rawPath: string, limits: FolderLimits, field = "cwd"): Promise<string> {
  return withFolder(rawPath, limits, field, (folder) => folder.realPath);
}

export interface OpenedFolder {
  /** Stays this folder whatever is renamed meanwhile; closed when `use` has ended. */
  readonly handle: FileHandle;
  readonly realPath: string;
}

/** Opens a folder as `resolveFolder` does and hands it to `use` while it is open. Throws the same, and what `use` throws as `path_refused`. */
export async function withFolder<T>(
  rawPath: string,
  limits: FolderLimits,
  field: string,
  use: (folder: OpenedFolder) => Promise<T> | T,
): Promise<T> {
  const expanded =
    rawPath === "~" || rawPath.startsWith("~/") ? join(limits.userHome, rawPath.slice(1)) : rawPath;
  if (expanded.startsWith("~")) throw invalid(field, "must be absolute, or begin with `~/`");
  checkPathText(expanded, field);
  const handle = await open(
    expanded,
    constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK,
  ).catch(async (error: NodeJS.ErrnoException) => {
    if (limits.browseRoot !== null && !(await nearestIsWithin(expanded, limits.browseRoot)))
      throw refuse(field, outside);
    if (error.code === "ENOENT") throw invalid(field, "names a folder that does not exist on this machine");
    if (error.code === "ENOTDIR") throw invalid(field, "is not a folder");
    throw refuse(field, `it cannot be opened (${error.code ?? "unknown error"})`, error);
  });
  try {
    const opened = await handle.stat();
    const realPath = await pathOfOpened(handle, expanded, opened);
    if (realPath === null) throw refuse(field, "it was moved or replaced while it was opened");
    const folders = await ancestorsOf(realPath);
    if (limits.browseRoot !== null) {
      const root = await stat(limits.browseRoot);
      if (!folders.some((folder) => sameFile(folder, root))) throw refuse(field, outside);
    }
    if (await touchesHome(folders, limits.homeFolder))
      throw refuse(field, "Sallyport's own files are off limits");
    return await use({ handle, realPath });
  } catch (error) {
    throw error instanceof SallyportError ? error : refuse(field, "it cannot be checked", error);
  } finally {
    await handle.close();
  }
}

function invalid(field: string, problem: string): SallyportError {
  return new SallyportError("invalid_field", `\`${field}\` ${problem}.`, { field });
}

function refuse(field: string, reason: string, cause?: unknown): SallyportError {
  return new SallyportError("path_refused", `This folder is not used: ${reason}.`, { field, cause });
}

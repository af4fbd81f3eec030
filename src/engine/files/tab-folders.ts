import { SallyportError } from "../../errors.ts";
import { type FolderLimits, resolveFolder } from "./resolve-folder.ts";

export interface TabFoldersOptions {
  /** Home of the daemon. */
  readonly home: string;
  /** What `~` stands for. */
  readonly userHome: string;
  /** Read at each use. */
  readonly browseRoot: () => string;
}

export interface TabFolders {
  /** Bounds of what is looked at; `null` for no browse root. */
  readonly bounds: (browseRoot: string | null) => FolderLimits;
  /** The real path of a folder that is fit for a tab; `bounded` for those who stay below the browse root. */
  readonly resolveCwd: (rawCwd: string, bounded: boolean) => Promise<string>;
  /** Throws `path_refused` when the folder of a tab is gone, or is another one now. */
  readonly checkFolder: (cwd: string) => Promise<void>;
}

/** Which folders tabs may have, and whether one still is what it was when the tab was opened. */
export function createTabFolders({ home, userHome, browseRoot }: TabFoldersOptions): TabFolders {
  const bounds = (root: string | null): FolderLimits => ({ homeFolder: home, userHome, browseRoot: root });
  return {
    bounds,
    resolveCwd: (rawCwd, bounded) => resolveFolder(rawCwd, bounds(bounded ? browseRoot() : null)),
    async checkFolder(cwd) {
      if ((await resolveFolder(cwd, bounds(null))) !== cwd)
        throw new SallyportError(
          "path_refused",
          "The folder of this tab was moved or replaced; open a new tab.",
        );
    },
  };
}

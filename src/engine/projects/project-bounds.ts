import type { FolderLimits } from "../files/resolve-folder.ts";

/** Where a project may be read. */
export interface ProjectBounds {
  readonly homeFolder: string;
  readonly userHome: string;
  /** A project below this folder is not looked at above it; one elsewhere is not bound by it. */
  readonly browseRoot: string;
}

/** Bounds for opening what lies in a project's own folder: nothing outside of it, by no link. */
export function within(folder: string, bounds: ProjectBounds): FolderLimits {
  return { homeFolder: bounds.homeFolder, userHome: bounds.userHome, browseRoot: folder };
}

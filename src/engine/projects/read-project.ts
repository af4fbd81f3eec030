import { relative } from "node:path";
import type { Project } from "../../protocol/objects.ts";
import { gitLabel } from "../browse/git-label.ts";
import { findRepository, listSiblings } from "./find-repository.ts";
import type { ProjectBounds } from "./project-bounds.ts";
import { listCommands } from "./project-commands.ts";

/**
 * What reading files tells of a tab's folder: its place in the repository, the branch, and the slash commands. Git is not
 * run, whether the folder is trusted or not; the commands of an untrusted folder do not count and are not listed.
 *
 * @param cwd real path
 */
export async function readProject(cwd: string, trusted: boolean, bounds: ProjectBounds): Promise<Project> {
  const root = await findRepository(cwd, bounds);
  const fileLimits = { homeFolder: bounds.homeFolder, browseRoot: null };
  return {
    root,
    subdir: root === null ? null : relative(root, cwd),
    siblings: root === null ? [] : await listSiblings(cwd, root, bounds),
    suggest_root: root !== null && root !== cwd && root !== bounds.userHome,
    branch: root === null ? null : await gitLabel(root, fileLimits),
    commands: trusted ? [...(await listCommands(commandFoldersOf(cwd, root), bounds))] : [],
  };
}

/** Commands of the folder itself come before those of the repository's root. */
export function commandFoldersOf(cwd: string, root: string | null): readonly string[] {
  return root === null || root === cwd ? [cwd] : [cwd, root];
}

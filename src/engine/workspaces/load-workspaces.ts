import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isId } from "../../lib/ids.ts";
import { readSecretFile } from "../../lib/secret-file.ts";
import { engineLimits } from "../engine-limits.ts";
import { idsOf, parseWorkspace, type WorkspaceDoc } from "./workspace-doc.ts";

export interface LoadedWorkspaces {
  readonly docs: readonly WorkspaceDoc[];
  /** One sentence for each file that is left alone because it cannot be used. */
  readonly problems: readonly string[];
}

/**
 * Reads all workspace files. One that is damaged, unsafe or from a newer version is reported and left exactly as it is,
 * and the others are used: nothing is lost, and its sessions can still be read by id. Throws when the folder itself
 * cannot be read.
 */
export async function loadWorkspaces(folder: string): Promise<LoadedWorkspaces> {
  const names = (await readdir(folder)).sort();
  const docs: WorkspaceDoc[] = [];
  const problems: string[] = [];
  const taken = new Set<string>();
  for (const name of names) {
    const id = name.endsWith(".json") ? name.slice(0, -".json".length) : "";
    if (!isId(id)) continue;
    const found = await readOne(join(folder, name), id);
    const problem =
      typeof found === "string"
        ? found
        : docs.length >= engineLimits.workspaces
          ? `there are more than ${engineLimits.workspaces} workspaces`
          : idsOf(found).some((each) => taken.has(each))
            ? "another workspace has its tabs or agents"
            : null;
    if (typeof found === "string" || problem !== null) {
      problems.push(`${join(folder, name)} is not used: ${problem}. It was left as it is.`);
      continue;
    }
    for (const each of idsOf(found)) taken.add(each);
    docs.push(found);
  }
  return { docs, problems };
}

async function readOne(path: string, id: string): Promise<WorkspaceDoc | string> {
  const file = await readSecretFile(path, engineLimits.workspaceFileBytes);
  return file.ok ? parseWorkspace(file.text, id) : file.detail;
}

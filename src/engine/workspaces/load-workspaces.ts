import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isId } from "../../lib/ids.ts";
import { readSecretFile } from "../../lib/secret-file.ts";
import { engineLimits } from "../engine-limits.ts";
import { idsOf, parseWorkspace, type WorkspaceDoc, withoutTab } from "./workspace-doc.ts";

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
  const problems: string[] = [];
  const leaveAlone = (name: string, problem: string): void => {
    problems.push(`${join(folder, name)} is not used: ${problem}. It was left as it is.`);
  };
  const read: WorkspaceDoc[] = [];
  for (const name of (await readdir(folder)).sort()) {
    const id = name.endsWith(".json") ? name.slice(0, -".json".length) : "";
    if (!isId(id)) continue;
    const found = await readOne(join(folder, name), id);
    if (typeof found === "string") leaveAlone(name, found);
    else read.push(found);
  }
  const docs: WorkspaceDoc[] = [];
  const taken = new Set<string>();
  for (const doc of finishMoves(read)) {
    if (docs.length >= engineLimits.workspaces)
      leaveAlone(`${doc.id}.json`, `there are more than ${engineLimits.workspaces} workspaces`);
    else if (idsOf(doc).some((each) => taken.has(each)))
      leaveAlone(`${doc.id}.json`, "another workspace has its tabs or agents");
    else {
      for (const each of idsOf(doc)) taken.add(each);
      docs.push(doc);
    }
  }
  return { docs, problems };
}

/** A tab that was on its way when the daemon died is in both files: it has arrived. */
function finishMoves(docs: readonly WorkspaceDoc[]): readonly WorkspaceDoc[] {
  const byId = new Map(docs.map((doc) => [doc.id, doc]));
  for (const doc of docs) {
    for (const tab of doc.tabs) {
      const source = tab.moved_from === undefined ? undefined : byId.get(tab.moved_from);
      if (source && source.id !== doc.id) byId.set(source.id, withoutTab(source, tab.id));
    }
  }
  return [...byId.values()].map((doc) => ({
    ...doc,
    tabs: doc.tabs.map(({ moved_from: _mark, ...tab }) => tab),
  }));
}

async function readOne(path: string, id: string): Promise<WorkspaceDoc | string> {
  const file = await readSecretFile(path, engineLimits.workspaceFileBytes);
  return file.ok ? parseWorkspace(file.text, id) : file.detail;
}

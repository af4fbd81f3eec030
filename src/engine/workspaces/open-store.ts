import { SallyportError } from "../../errors.ts";
import { loadWorkspaces } from "./load-workspaces.ts";
import { tabNameOf } from "./tab-commands.ts";
import type { TrustedFolders } from "./trusted-folders.ts";
import type { TabDoc } from "./workspace-doc.ts";
import { createWorkspaceStore, type WorkspaceStore } from "./workspace-store.ts";
import { freshWorkspace, newTabDoc } from "./workspaces.ts";

export interface OpenStoreOptions {
  readonly folder: string;
  /** Where the first tab of a fresh daemon is opened: the first of these that is fit for it. */
  readonly firstFolders: readonly string[];
  readonly resolveCwd: (rawCwd: string, bounded: boolean) => Promise<string>;
  readonly trusted: TrustedFolders;
  readonly tabRuntime: () => string;
  readonly now: () => number;
  readonly report: (problem: string) => void;
}

/** Reads the workspaces from their files; a fresh daemon gets one with one tab. Throws `disk_full`. */
export async function openWorkspaceStore(options: OpenStoreOptions): Promise<WorkspaceStore> {
  const { folder, report } = options;
  const loaded = await loadWorkspaces(folder);
  for (const problem of loaded.problems) report(problem);
  const store = createWorkspaceStore({ folder, docs: loaded.docs, report });
  if (store.list().length === 0) await store.create(freshWorkspace(await firstTab(options), options.now()));
  return store;
}

async function firstTab(options: OpenStoreOptions): Promise<TabDoc | null> {
  for (const folder of options.firstFolders) {
    try {
      const cwd = await options.resolveCwd(folder, false);
      await options.trusted.add(cwd);
      return newTabDoc({ cwd, name: tabNameOf(cwd), mode: "ask", runtime: options.tabRuntime() });
    } catch (error) {
      if (!(error instanceof SallyportError) || error.code === "disk_full") throw error;
      options.report(`the first tab was not opened at ${folder}: ${error.message}`);
    }
  }
  return null;
}

import { join } from "node:path";
import { SallyportError } from "../../errors.ts";
import { writeFileAtomic } from "../../lib/atomic-file.ts";
import { type BoundedQueue, createBoundedQueue, QueueFullError } from "../../lib/bounded-queue.ts";
import { orRefuse } from "../disk-refusal.ts";
import { engineLimits } from "../engine-limits.ts";
import { type AgentDoc, formatWorkspace, type TabDoc, type WorkspaceDoc } from "./workspace-doc.ts";

const saveSoonMs = 2_000;
type Patch = (doc: WorkspaceDoc) => WorkspaceDoc;

export interface AgentPlace {
  readonly workspace: WorkspaceDoc;
  readonly tab: TabDoc;
  readonly agent: AgentDoc;
}

/** The workspaces in memory, each the same as its file. */
export interface WorkspaceStore {
  list(): readonly WorkspaceDoc[];
  get(id: string): WorkspaceDoc | null;
  findTab(id: string): { readonly workspace: WorkspaceDoc; readonly tab: TabDoc } | null;
  findAgent(id: string): AgentPlace | null;
  agentCount(): number;
  /** Writes a new workspace, then takes it in. */
  create(doc: WorkspaceDoc): Promise<void>;
  /**
   * Changes a workspace: file first, then memory, in the order of the calls. `change` runs at the commit point on the
   * newest document and may throw a refusal. Throws `not_found`, `disk_full`.
   */
  update(id: string, change: Patch): Promise<WorkspaceDoc>;
  /** Changes memory now and the file within seconds: for times and titles, which may be lost in a crash. */
  patchSoon(id: string, change: Patch): void;
  /** Writes out what `patchSoon` left; what comes later stays in memory. */
  close(): Promise<void>;
}

export interface WorkspaceStoreOptions {
  readonly folder: string;
  readonly docs: readonly WorkspaceDoc[];
  readonly report: (problem: string) => void;
}

interface Held {
  doc: WorkspaceDoc;
  readonly queue: BoundedQueue;
  /** Patches of memory that came while a write was on its way; they are put on top of what it brings. */
  patches: Patch[];
  saveTimer: NodeJS.Timeout | null;
}

export function createWorkspaceStore(options: WorkspaceStoreOptions): WorkspaceStore {
  const held = new Map<string, Held>(options.docs.map((doc) => [doc.id, hold(doc)]));
  const tabIndex = new Map<string, string>();
  const agentIndex = new Map<string, { workspace: string; tab: string }>();
  let closed = false;
  for (const doc of options.docs) addToIndex(doc);

  function hold(doc: WorkspaceDoc): Held {
    return { doc, queue: createBoundedQueue({ maxWaiting: 1_000 }), patches: [], saveTimer: null };
  }

  function addToIndex(doc: WorkspaceDoc): void {
    for (const tab of doc.tabs) {
      tabIndex.set(tab.id, doc.id);
      for (const agent of tab.agents) agentIndex.set(agent.id, { workspace: doc.id, tab: tab.id });
    }
  }

  function removeFromIndex(doc: WorkspaceDoc): void {
    for (const tab of doc.tabs) {
      tabIndex.delete(tab.id);
      for (const agent of tab.agents) agentIndex.delete(agent.id);
    }
  }

  async function write(doc: WorkspaceDoc): Promise<void> {
    await orRefuse(writeFileAtomic(join(options.folder, `${doc.id}.json`), formatWorkspace(doc)));
  }

  async function update(id: string, change: Patch): Promise<WorkspaceDoc> {
    const entry = held.get(id);
    if (!entry) throw new SallyportError("not_found", "There is no such workspace.");
    try {
      return await entry.queue.run(async () => {
        const next = change(entry.doc);
        entry.patches = [];
        await write(next);
        removeFromIndex(entry.doc);
        entry.doc = entry.patches.reduce((doc, patch) => patch(doc), next);
        addToIndex(entry.doc);
        return entry.doc;
      });
    } catch (error) {
      if (error instanceof QueueFullError)
        throw new SallyportError("overloaded", "Too many changes to this workspace at once; try again.");
      throw error;
    }
  }

  function saveSoon(id: string, entry: Held): void {
    if (closed) return;
    entry.saveTimer ??= setTimeout(() => {
      entry.saveTimer = null;
      update(id, (doc) => doc).catch((error: Error) => {
        options.report(`workspace ${id} could not be saved: ${error.message}`);
      });
    }, saveSoonMs).unref();
  }

  return {
    list: () => [...held.values()].map((entry) => entry.doc),
    get: (id) => held.get(id)?.doc ?? null,
    findTab(id) {
      const workspace = held.get(tabIndex.get(id) ?? "")?.doc;
      const tab = workspace?.tabs.find((each) => each.id === id);
      return workspace && tab ? { workspace, tab } : null;
    },
    findAgent(id) {
      const place = agentIndex.get(id);
      const workspace = held.get(place?.workspace ?? "")?.doc;
      const tab = workspace?.tabs.find((each) => each.id === place?.tab);
      const agent = tab?.agents.find((each) => each.id === id);
      return workspace && tab && agent ? { workspace, tab, agent } : null;
    },
    agentCount: () => agentIndex.size,
    async create(doc) {
      if (held.size >= engineLimits.workspaces)
        throw new SallyportError(
          "conflict",
          `There are ${engineLimits.workspaces} workspaces; delete one first.`,
          {
            reason: "in_use",
          },
        );
      await write(doc);
      held.set(doc.id, hold(doc));
      addToIndex(doc);
    },
    update,
    patchSoon(id, change) {
      const entry = held.get(id);
      if (!entry) return;
      entry.doc = change(entry.doc);
      entry.patches.push(change);
      saveSoon(id, entry);
    },
    async close() {
      closed = true;
      for (const [id, entry] of held) {
        await entry.queue.drained();
        if (!entry.saveTimer) continue;
        clearTimeout(entry.saveTimer);
        entry.saveTimer = null;
        await update(id, (doc) => doc);
      }
    },
  };
}

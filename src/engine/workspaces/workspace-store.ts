import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { SallyportError } from "../../errors.ts";
import { syncFolder, writeFileAtomic } from "../../lib/atomic-file.ts";
import { type BoundedQueue, createBoundedQueue, QueueFullError } from "../../lib/bounded-queue.ts";
import { orRefuse } from "../disk-refusal.ts";
import { engineLimits } from "../engine-limits.ts";
import { noTab, noWorkspace } from "../not-found.ts";
import {
  type AgentDoc,
  formatWorkspace,
  type TabDoc,
  type WorkspaceDoc,
  withoutTab,
  withTab,
} from "./workspace-doc.ts";

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
  /** Writes a new workspace, then takes it in. `commit` is called in the moment before and may refuse. */
  create(doc: WorkspaceDoc, commit?: () => void): Promise<void>;
  /**
   * Changes a workspace: file first, then memory, in the order of the calls. `change` runs at the commit point on the
   * newest document and may throw a refusal. Throws `not_found`, `disk_full`.
   */
  update(id: string, change: Patch): Promise<WorkspaceDoc>;
  /**
   * Takes a workspace and its file away. `commit` is called in the moment before and may refuse. Throws `not_found`,
   * `disk_full`.
   */
  remove(id: string, commit: (doc: WorkspaceDoc) => void): Promise<WorkspaceDoc>;
  /**
   * Moves a tab to a place in another workspace; whatever dies in between, one of the two has it at the next start.
   * `change` makes the target with the tab in it and may refuse. Throws `not_found`, `disk_full`.
   */
  moveTab(
    tabId: string,
    to: string,
    change: (target: WorkspaceDoc, tab: TabDoc) => WorkspaceDoc,
  ): Promise<void>;
  /** Changes memory now and the file within seconds: for times and titles, which may be lost in a crash. */
  patchSoon(id: string, change: Patch): void;
  /** Writes out what `patchSoon` left; what comes later stays in memory. */
  close(): Promise<void>;
}

export interface WorkspaceStoreOptions {
  readonly folder: string;
  readonly docs: readonly WorkspaceDoc[];
  readonly report: (problem: string) => void;
  /** How long `patchSoon` gathers changes, and the pause after a save that failed. Default 2 s. */
  readonly saveAfterMs?: number;
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
  /** Workspaces come and go one after the other: never too many, never none. */
  const comingAndGoing = createBoundedQueue({ maxWaiting: 1_000 });
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
    const text = formatWorkspace(doc);
    // A file over the bound would not be read at the next start.
    if (Buffer.byteLength(text) > engineLimits.workspaceFileBytes)
      throw new SallyportError("conflict", "This workspace is full; close some of its agents first.", {
        reason: "in_use",
      });
    await orRefuse(writeFileAtomic(pathOf(doc.id), text));
  }

  function pathOf(id: string): string {
    return join(options.folder, `${id}.json`);
  }

  function entryOf(id: string): Held {
    const entry = held.get(id);
    if (!entry) throw noWorkspace();
    return entry;
  }

  /** Runs `task` while nothing else changes the workspace. Throws `not_found` when it was removed meanwhile. */
  async function alone<T>(id: string, task: (entry: Held) => Promise<T>): Promise<T> {
    const entry = entryOf(id);
    return inTurn(entry.queue, () => {
      if (held.get(id) !== entry) throw noWorkspace();
      return task(entry);
    });
  }

  const comeOrGo = <T>(task: () => Promise<T>): Promise<T> => inTurn(comingAndGoing, task);

  async function update(id: string, change: Patch): Promise<WorkspaceDoc> {
    return alone(id, async (entry) => {
      const next = change(entry.doc);
      entry.patches = [];
      await write(next);
      removeFromIndex(entry.doc);
      entry.doc = patched(next, entry.patches);
      addToIndex(entry.doc);
      return entry.doc;
    });
  }

  async function remove(id: string, commit: (doc: WorkspaceDoc) => void): Promise<WorkspaceDoc> {
    const removing = async (entry: Held): Promise<WorkspaceDoc> => {
      commit(entry.doc);
      await orRefuse(unlink(pathOf(id)).then(() => syncFolder(options.folder)));
      held.delete(id);
      removeFromIndex(entry.doc);
      if (entry.saveTimer) clearTimeout(entry.saveTimer);
      return entry.doc;
    };
    return comeOrGo(() => alone(id, removing));
  }

  async function moveTab(
    tabId: string,
    to: string,
    change: (target: WorkspaceDoc, tab: TabDoc) => WorkspaceDoc,
  ): Promise<void> {
    const from = tabIndex.get(tabId);
    if (from === undefined) throw noTab();
    // Always in the same order: two moves in opposite directions must not wait for each other.
    const [first, second] = from < to ? [from, to] : [to, from];
    await alone(first, () => alone(second, () => moveBetween(tabId, entryOf(from), entryOf(to), change)));
  }

  /** The target's file is written first, with a mark; `loadWorkspaces` knows by it whose the tab is. */
  async function moveBetween(
    tabId: string,
    source: Held,
    target: Held,
    change: (target: WorkspaceDoc, tab: TabDoc) => WorkspaceDoc,
  ): Promise<void> {
    const tab = source.doc.tabs.find((each) => each.id === tabId);
    if (!tab) throw noTab();
    const before = target.doc;
    const nextTarget = change(before, { ...tab, moved_from: source.doc.id });
    const nextSource = withoutTab(source.doc, tabId);
    source.patches = [];
    target.patches = [];
    await write(nextTarget);
    await write(nextSource).catch(async (error: unknown) => {
      await write(before).catch((again: Error) => {
        options.report(`workspace ${before.id} could not be written back: ${again.message}`);
      });
      throw error;
    });
    removeFromIndex(source.doc);
    removeFromIndex(target.doc);
    source.doc = patched(nextSource, source.patches);
    // What was changed of the tab while the files were written was noted at the source.
    target.doc = patched(withTab(nextTarget, tabId, withoutMark), [...source.patches, ...target.patches]);
    addToIndex(source.doc);
    addToIndex(target.doc);
    saveSoon(target.doc.id, target);
  }

  function saveSoon(id: string, entry: Held): void {
    if (closed) return;
    entry.saveTimer ??= setTimeout(() => {
      entry.saveTimer = null;
      update(id, (doc) => doc).catch((error: Error) => {
        options.report(`workspace ${id} could not be saved, and is tried again: ${error.message}`);
        // Nobody else would write it before the next change.
        if (held.get(id) === entry) saveSoon(id, entry);
      });
    }, options.saveAfterMs ?? saveSoonMs).unref();
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
    create(doc, commit) {
      // More than the bound would not be read at the next start.
      return comeOrGo(async () => {
        if (held.size >= engineLimits.workspaces)
          throw new SallyportError(
            "conflict",
            `There are ${engineLimits.workspaces} workspaces; delete one first.`,
            { reason: "in_use" },
          );
        commit?.();
        await write(doc);
        held.set(doc.id, hold(doc));
        addToIndex(doc);
      });
    },
    update,
    remove,
    moveTab,
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

async function inTurn<T>(queue: BoundedQueue, task: () => Promise<T>): Promise<T> {
  try {
    return await queue.run(task);
  } catch (error) {
    if (error instanceof QueueFullError)
      throw new SallyportError("overloaded", "Too many changes of workspaces at once; try again.");
    throw error;
  }
}

function patched(doc: WorkspaceDoc, patches: readonly Patch[]): WorkspaceDoc {
  return patches.reduce((each, patch) => patch(each), doc);
}

function withoutMark({ moved_from: _mark, ...tab }: TabDoc): TabDoc {
  return tab;
}

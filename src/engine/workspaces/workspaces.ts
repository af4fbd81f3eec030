import { SallyportError } from "../../errors.ts";
import { newId } from "../../lib/ids.ts";
import type { StateFile } from "../../lib/state-file.ts";
import { engineLimits } from "../engine-limits.ts";
import { type AgentDoc, type TabDoc, type WorkspaceDoc, withTab } from "./workspace-doc.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

const lastSection = "last_workspace";
/** `used` says in which order workspaces were used; more exact it would cost a write per prompt. */
const usedResolutionMs = 60_000;

/** Changes of workspaces, tabs and agents as documents. What is live, and what is announced, is not known here. */
export interface Workspaces {
  readonly store: WorkspaceStore;
  /** The last used workspace. */
  last(): WorkspaceDoc;
  /** A tab by id, or the active tab of the last workspace. Throws `not_found`. */
  tabOrActive(tabId: string | undefined): { readonly workspace: WorkspaceDoc; readonly tab: TabDoc };
  /** Notes that the workspace was used. */
  touch(workspaceId: string): void;
  /** `commit` is called in the moment before the file is written and may refuse. Throws `conflict` at the bounds. */
  addTab(workspaceId: string, tab: TabDoc, commit: () => void): Promise<void>;
  removeTab(tabId: string, commit: () => void): Promise<void>;
  changeTab(tabId: string, change: (tab: TabDoc) => TabDoc, commit: () => void): Promise<void>;
  /** Adds the agent and makes it the tab's active one. */
  addAgent(tabId: string, agent: AgentDoc, commit: () => void): Promise<void>;
  /** Takes the agent off its tab; the newest of the others becomes active. */
  removeAgent(tabId: string, agentId: string, commit: () => void): Promise<void>;
}

export interface WorkspacesOptions {
  readonly store: WorkspaceStore;
  readonly state: StateFile;
  readonly now: () => number;
  readonly report: (problem: string) => void;
  readonly onUsed: (workspaceId: string) => void;
}

/** The workspace of a fresh daemon, with one tab, or none where there is no folder for it. */
export function freshWorkspace(tab: TabDoc | null, atMs: number): WorkspaceDoc {
  return {
    version: 1,
    id: newId(),
    name: "main",
    used: new Date(atMs).toISOString(),
    active_tab: tab?.id ?? null,
    tabs: tab ? [tab] : [],
  };
}

export function newTabDoc(options: Pick<TabDoc, "cwd" | "name" | "mode">): TabDoc {
  return { id: newId(), ...options, runtime: "shell", active_agent: null, agents: [] };
}

/** Throws `StateFileError` when the section is damaged. */
export function createWorkspaces(options: WorkspacesOptions): Workspaces {
  const { store, state } = options;
  const raw = state.get(lastSection) ?? null;
  if (raw !== null && typeof raw !== "string") throw state.damaged(lastSection);
  let lastId = raw;

  function last(): WorkspaceDoc {
    const known = lastId === null ? null : store.get(lastId);
    const newest = [...store.list()].sort((a, b) => (a.used < b.used ? 1 : -1))[0];
    const found = known ?? newest;
    if (!found) throw new SallyportError("not_found", "There is no workspace.");
    return found;
  }

  function homeOf(tabId: string): string {
    const place = store.findTab(tabId);
    if (!place) throw noTab();
    return place.workspace.id;
  }

  async function changeTab(
    tabId: string,
    change: (tab: TabDoc) => TabDoc,
    commit: () => void,
  ): Promise<void> {
    await store.update(homeOf(tabId), (doc) => {
      if (!doc.tabs.some((tab) => tab.id === tabId)) throw noTab();
      const next = withTab(doc, tabId, change);
      commit();
      return next;
    });
  }

  return {
    store,
    last,
    tabOrActive(tabId) {
      if (tabId !== undefined) {
        const place = store.findTab(tabId);
        if (!place) throw noTab();
        return place;
      }
      const workspace = last();
      const tab = workspace.tabs.find((each) => each.id === workspace.active_tab) ?? workspace.tabs[0];
      if (!tab)
        throw new SallyportError("not_found", "The last workspace has no tab. Open one: tab_create.", {
          field: "tab",
        });
      return { workspace, tab };
    },
    touch(workspaceId) {
      if (lastId !== workspaceId) {
        lastId = workspaceId;
        state
          .update(lastSection, () => workspaceId)
          .catch((error: Error) => {
            options.report(`the last used workspace could not be kept: ${error.message}`);
          });
      }
      const doc = store.get(workspaceId);
      if (!doc || options.now() - Date.parse(doc.used) < usedResolutionMs) return;
      const used = new Date(options.now()).toISOString();
      store.patchSoon(workspaceId, (each) => ({ ...each, used }));
      options.onUsed(workspaceId);
    },
    async addTab(workspaceId, tab, commit) {
      await store.update(workspaceId, (doc) => {
        if (doc.tabs.length >= engineLimits.tabsPerWorkspace)
          throw tooMany(`This workspace has ${doc.tabs.length} tabs; close some first.`);
        commit();
        return { ...doc, active_tab: tab.id, tabs: [...doc.tabs, tab] };
      });
    },
    async removeTab(tabId, commit) {
      await store.update(homeOf(tabId), (doc) => {
        const index = doc.tabs.findIndex((tab) => tab.id === tabId);
        const tabs = doc.tabs.filter((tab) => tab.id !== tabId);
        const neighbour = tabs[index] ?? tabs[index - 1];
        const active = doc.active_tab === tabId ? (neighbour?.id ?? null) : doc.active_tab;
        commit();
        return { ...doc, tabs, active_tab: active };
      });
    },
    changeTab,
    async addAgent(tabId, agent, commit) {
      await changeTab(
        tabId,
        (tab) => {
          if (tab.agents.length >= engineLimits.agentsPerTab)
            throw tooMany(`This tab has ${tab.agents.length} agents; close some first.`);
          if (store.agentCount() >= engineLimits.agents)
            throw tooMany(`There are ${store.agentCount()} agents; close some first.`);
          return { ...tab, active_agent: agent.id, agents: [...tab.agents, agent] };
        },
        commit,
      );
    },
    async removeAgent(tabId, agentId, commit) {
      await changeTab(
        tabId,
        (tab) => {
          const agents = tab.agents.filter((agent) => agent.id !== agentId);
          const active = tab.active_agent === agentId ? (agents.at(-1)?.id ?? null) : tab.active_agent;
          return { ...tab, agents, active_agent: active };
        },
        commit,
      );
    },
  };
}

function noTab(): SallyportError {
  return new SallyportError("not_found", "There is no such tab; it may have been closed.");
}

function tooMany(message: string): SallyportError {
  return new SallyportError("conflict", message, { reason: "in_use" });
}

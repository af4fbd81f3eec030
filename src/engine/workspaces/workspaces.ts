import { SallyportError } from "../../errors.ts";
import { newId } from "../../lib/ids.ts";
import type { StateFile } from "../../lib/state-file.ts";
import { engineLimits } from "../engine-limits.ts";
import { noAgent, noTab } from "../not-found.ts";
import {
  type AgentDoc,
  type TabDoc,
  type WorkspaceDoc,
  withAgent,
  withoutTab,
  withTab,
} from "./workspace-doc.ts";
import type { AgentPlace, WorkspaceStore } from "./workspace-store.ts";

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
  /** Adds the agent and makes it the tab's active one. Refuses one that is on a tab already. */
  addAgent(tabId: string, agent: AgentDoc, commit: () => void, how?: AddAgentOptions): Promise<void>;
  /** Takes agents off their tab; the newest of the others becomes active. */
  removeAgents(tabId: string, agentIds: readonly string[], commit: () => void): Promise<void>;
  /** Changes one agent, wherever it is. Throws `not_found`. */
  changeAgent(agentId: string, change: (agent: AgentDoc) => AgentDoc, commit: () => void): Promise<void>;
  /** Makes the agent its tab's active one, and with `tabToo` its tab the workspace's. Throws `not_found`. */
  activateAgent(agentId: string, options: { readonly tabToo: boolean }, commit: () => void): Promise<void>;
}

export interface AddAgentOptions {
  /** False for a subagent: it does not become the tab's active agent. */
  readonly activate: boolean;
  /** Agents that leave the tab in the same step. */
  readonly drop: readonly string[];
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

export function newTabDoc(options: Pick<TabDoc, "cwd" | "name" | "mode" | "runtime" | "model">): TabDoc {
  return { id: newId(), ...options, active_agent: null, agents: [] };
}

/** Throws `StateFileError` when the section is damaged. */
export function createWorkspaces(options: WorkspacesOptions): Workspaces {
  const { store, state } = options;
  const raw = state.get(lastSection) ?? null;
  if (raw !== null && typeof raw !== "string") throw state.damaged(lastSection);
  /** What the state file says. */
  let keptId = raw;
  // Fixed at once: a workspace that is made later does not become the last used by being new.
  let lastId: string | null = (raw === null ? null : store.get(raw)?.id) ?? newest()?.id ?? null;

  function newest(): WorkspaceDoc | undefined {
    return [...store.list()].sort((a, b) => (a.used < b.used ? 1 : -1))[0];
  }

  function last(): WorkspaceDoc {
    const found = (lastId === null ? null : store.get(lastId)) ?? newest();
    if (!found) throw new SallyportError("not_found", "There is no workspace.");
    lastId = found.id;
    return found;
  }

  function homeOf(tabId: string): string {
    const place = store.findTab(tabId);
    if (!place) throw noTab();
    return place.workspace.id;
  }

  function placeOf(agentId: string): AgentPlace {
    const place = store.findAgent(agentId);
    if (!place) throw noAgent();
    return place;
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
      lastId = workspaceId;
      if (keptId !== workspaceId) {
        keptId = workspaceId;
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
        if (!doc.tabs.some((tab) => tab.id === tabId)) throw noTab();
        commit();
        return withoutTab(doc, tabId);
      });
    },
    changeTab,
    async addAgent(tabId, agent, commit, how = { activate: true, drop: [] }) {
      await changeTab(
        tabId,
        (tab) => {
          const agents = tab.agents.filter((each) => !how.drop.includes(each.id));
          if (store.findAgent(agent.id)) throw tooMany("This session is open on a tab already.");
          if (agents.length >= engineLimits.agentsPerTab)
            throw tooMany(`This tab has ${agents.length} agents; close some first.`);
          if (store.agentCount() >= engineLimits.agents)
            throw tooMany(`There are ${store.agentCount()} agents; close some first.`);
          const active = how.activate ? agent.id : activeAmong(agents, tab.active_agent);
          return { ...tab, active_agent: active, agents: [...agents, agent] };
        },
        commit,
      );
    },
    async removeAgents(tabId, agentIds, commit) {
      await changeTab(
        tabId,
        (tab) => {
          const agents = tab.agents.filter((agent) => !agentIds.includes(agent.id));
          return { ...tab, agents, active_agent: activeAmong(agents, tab.active_agent) };
        },
        commit,
      );
    },
    async changeAgent(agentId, change, commit) {
      await store.update(placeOf(agentId).workspace.id, (doc) => {
        placeOf(agentId);
        commit();
        return withAgent(doc, agentId, change);
      });
    },
    async activateAgent(agentId, { tabToo }, commit) {
      await store.update(placeOf(agentId).workspace.id, (doc) => {
        const { tab } = placeOf(agentId);
        commit();
        const next = withTab(doc, tab.id, (each) => ({ ...each, active_agent: agentId }));
        return tabToo ? { ...next, active_tab: tab.id } : next;
      });
    },
  };
}

/** The agent that is active once these are left: the same, or the newest that is no subagent. */
function activeAmong(agents: readonly AgentDoc[], active: string | null): string | null {
  if (agents.some((agent) => agent.id === active)) return active;
  return (agents.findLast((agent) => agent.parent === null) ?? agents.at(-1))?.id ?? null;
}

function tooMany(message: string): SallyportError {
  return new SallyportError("conflict", message, { reason: "in_use" });
}

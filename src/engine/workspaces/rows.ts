import type { Agent, Project, Tab, Workspace, WorkspaceRow } from "../../protocol/objects.ts";
import type { AgentDoc, TabDoc, WorkspaceDoc } from "./workspace-doc.ts";

/** What an agent does at the moment, beside what its document says. */
export interface AgentActivity {
  readonly state: Agent["state"];
  readonly live: boolean;
  readonly turn: string | null;
  readonly queued: boolean;
}

export const dormant: AgentActivity = { state: "idle", live: false, turn: null, queued: false };

/** An agent as docs/protocol.md shows it, of its document and what it does now. */
export function agentRow(doc: AgentDoc, tab: string, activity: AgentActivity): Agent {
  return {
    id: doc.id,
    tab,
    parent: doc.parent,
    label: doc.label,
    title: doc.title,
    runtime: doc.runtime,
    model: doc.model,
    thinking: doc.thinking ?? null,
    state: activity.state,
    live: activity.live,
    turn: activity.turn,
    queued: activity.queued,
    updated: doc.updated,
  };
}

export interface TabFacts {
  readonly trusted: boolean;
  readonly loaded: boolean;
  /** Null for a tab that was not loaded yet. */
  readonly project: Project | null;
  /** What must be known of what runs in it. */
  readonly note: string | null;
}

/** A tab without its agents, as docs/protocol.md shows it. */
export function tabRow(doc: TabDoc, workspace: string, facts: TabFacts): Tab {
  return {
    id: doc.id,
    workspace,
    name: doc.name,
    cwd: doc.cwd,
    mode: doc.mode,
    runtime: doc.runtime,
    model: doc.model ?? null,
    trusted: facts.trusted,
    loaded: facts.loaded,
    active_agent: doc.active_agent,
    project: facts.project,
    ...(facts.note === null ? {} : { note: facts.note }),
  };
}

/** A workspace as a list shows it: how many tabs, not which. */
export function workspaceRow(doc: WorkspaceDoc): WorkspaceRow {
  return { id: doc.id, name: doc.name, tabs: doc.tabs.length, used: doc.used, active_tab: doc.active_tab };
}

/** The whole workspace as a snapshot shows it. */
export function workspaceView(
  doc: WorkspaceDoc,
  factsOf: (tab: TabDoc) => TabFacts,
  activityOf: (agent: string) => AgentActivity,
): Workspace {
  return {
    id: doc.id,
    name: doc.name,
    active_tab: doc.active_tab,
    tabs: doc.tabs.map((tab) => ({
      ...tabRow(tab, doc.id, factsOf(tab)),
      agents: tab.agents.map((agent) => agentRow(agent, tab.id, activityOf(agent.id))),
    })),
  };
}

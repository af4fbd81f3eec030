import type { Change, Snapshot } from "../protocol/changes.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type {
  Agent,
  Job,
  PermissionRequest,
  Question,
  Tab,
  TabWithAgents,
  Workspace,
  WorkspaceRow,
} from "../protocol/objects.ts";

/**
 * The state after one change. Pure: nothing of `state` is modified, and what did not change stays the same object. A change
 * that is already in the state (`rev` not above the state's) and one of an unknown type change nothing but the `rev`.
 */
export function applyChange(state: Snapshot, change: Change): Snapshot {
  if (change.rev <= state.rev) return state;
  return { ...state, ...partsAfter(state, change), rev: change.rev };
}

/**
 * True when a change says less than the state must know: the connection's workspace is gone, or a tab came into it from
 * another workspace with agents that nobody told of. The whole snapshot has to be asked for then.
 */
export function needsSnapshot(state: Snapshot, change: Change): boolean {
  const { workspace } = state;
  const isKnown = (id: string): boolean => workspace.tabs.some((tab) => tab.id === id);
  switch (change.type) {
    case "workspace_deleted":
      return change.workspace === workspace.id;
    case "tab_updated":
      return change.tab.workspace === workspace.id && !isKnown(change.tab.id);
    case "tabs_reordered":
      return change.workspace === workspace.id && !change.tabs.every(isKnown);
    default:
      return false;
  }
}

function partsAfter(state: Snapshot, change: Change): Partial<Snapshot> {
  switch (change.type) {
    case "event":
      return requestsAfter(state, change.event);
    case "workspace_created":
    case "workspace_updated":
      return {
        workspaces: put(state.workspaces, change.workspace),
        workspace: withRow(state.workspace, change.workspace),
      };
    case "workspace_deleted":
      return { workspaces: state.workspaces.filter(({ id }) => id !== change.workspace) };
    case "tab_created":
    case "tab_updated":
      return {
        workspace: withTab(state.workspace, change.tab),
        // What an agent of it asks goes with the tab to another workspace.
        pending: moved(state.pending, change.tab),
        questions: moved(state.questions, change.tab),
      };
    case "tab_closed":
      return { workspace: withoutTab(state.workspace, change.tab) };
    case "tabs_reordered":
      return change.workspace === state.workspace.id
        ? { workspace: inOrder(state.workspace, change.tabs) }
        : {};
    case "agent_updated":
      return {
        workspace: changeTab(state.workspace, change.agent.tab, (tab) => withAgent(tab, change.agent)),
      };
    case "mode":
      return {
        workspace: changeTab(state.workspace, change.tab, (tab) => ({ ...tab, mode: change.mode })),
      };
    case "job_started":
    case "job_finished":
    case "job_updated":
      return { jobs: withJob(state.jobs, change.job) };
    case "clients":
      return { daemon: { ...state.daemon, clients: change.count } };
    case "remote":
      return { remote: change.remote };
    case "awake": {
      const { type: _type, rev: _rev, ...awake } = change;
      return { awake };
    }
    case "control":
      return { control: { ...state.control, available: change.available } };
    default:
      return {};
  }
}

function requestsAfter(state: Snapshot, event: AgentEvent): Partial<Snapshot> {
  switch (event.type) {
    case "permission_requested":
      return { pending: putRequest(state.pending, requestOf(event)) };
    case "permission_resolved":
      return { pending: withoutRequest(state.pending, event.request_id) };
    case "question_asked":
      return { questions: putRequest(state.questions, questionOf(event)) };
    case "question_resolved":
      return { questions: withoutRequest(state.questions, event.request_id) };
    default:
      return {};
  }
}

/** An event is the request and, around it, what every event carries. */
function requestOf({
  type: _type,
  seq: _seq,
  ...request
}: Extract<AgentEvent, { type: "permission_requested" }>): PermissionRequest {
  return request;
}

function questionOf({
  type: _type,
  seq: _seq,
  ...question
}: Extract<AgentEvent, { type: "question_asked" }>): Question {
  return question;
}

function withRow(workspace: Workspace, row: WorkspaceRow): Workspace {
  return row.id === workspace.id ? { ...workspace, name: row.name, active_tab: row.active_tab } : workspace;
}

/** A tab of another workspace is not ours any more, if it ever was. */
function withTab(workspace: Workspace, tab: Tab): Workspace {
  if (tab.workspace !== workspace.id) return withoutTab(workspace, tab.id);
  const known = workspace.tabs.find(({ id }) => id === tab.id);
  return { ...workspace, tabs: put(workspace.tabs, { ...tab, agents: known?.agents ?? [] }) };
}

function withoutTab(workspace: Workspace, id: string): Workspace {
  if (!workspace.tabs.some((tab) => tab.id === id)) return workspace;
  return { ...workspace, tabs: workspace.tabs.filter((tab) => tab.id !== id) };
}

function changeTab(
  workspace: Workspace,
  id: string,
  change: (tab: TabWithAgents) => TabWithAgents,
): Workspace {
  if (!workspace.tabs.some((tab) => tab.id === id)) return workspace;
  return { ...workspace, tabs: workspace.tabs.map((tab) => (tab.id === id ? change(tab) : tab)) };
}

function withAgent(tab: TabWithAgents, agent: Agent): TabWithAgents {
  return {
    ...tab,
    agents:
      agent.state === "closed" ? tab.agents.filter(({ id }) => id !== agent.id) : put(tab.agents, agent),
  };
}

function inOrder(workspace: Workspace, ids: readonly string[]): Workspace {
  const placeOf = (tab: TabWithAgents): number => {
    const index = ids.indexOf(tab.id);
    return index === -1 ? ids.length : index;
  };
  return { ...workspace, tabs: [...workspace.tabs].sort((a, b) => placeOf(a) - placeOf(b)) };
}

/** Newest first, as the daemon lists them. */
function withJob(jobs: readonly Job[], job: Job): readonly Job[] {
  if (jobs.some(({ id }) => id === job.id)) return put(jobs, job);
  const older = jobs.findIndex(({ started }) => started < job.started);
  const index = older === -1 ? jobs.length : older;
  return [...jobs.slice(0, index), job, ...jobs.slice(index)];
}

/** Replaces the one with the same id where it stands, or adds it at the end. */
function put<T extends { readonly id: string }>(list: readonly T[], item: T): T[] {
  return list.some(({ id }) => id === item.id)
    ? list.map((each) => (each.id === item.id ? item : each))
    : [...list, item];
}

function moved<T extends { readonly tab: string; readonly workspace: string }>(
  list: readonly T[],
  { id, workspace }: Tab,
): readonly T[] {
  const isMoved = (item: T): boolean => item.tab === id && item.workspace !== workspace;
  return list.some(isMoved) ? list.map((item) => (isMoved(item) ? { ...item, workspace } : item)) : list;
}

function putRequest<T extends { readonly request_id: string }>(list: readonly T[], item: T): T[] {
  return list.some(({ request_id }) => request_id === item.request_id)
    ? list.map((each) => (each.request_id === item.request_id ? item : each))
    : [...list, item];
}

function withoutRequest<T extends { readonly request_id: string }>(list: readonly T[], id: string): T[] {
  return list.filter(({ request_id }) => request_id !== id);
}

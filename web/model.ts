import type { Change, MissedChanges, Snapshot } from "../src/protocol/changes.ts";
import type { Agent, Job, PermissionRequest, Tab } from "../src/protocol/objects.ts";

/** What the page knows of the daemon, built from a snapshot and the changes after it. */
export interface Model {
  readonly rev: number;
  readonly instance: string;
  readonly version: string;
  /** When the daemon started, RFC 3339. */
  readonly started: string;
  readonly scopes: readonly string[];
  readonly workspace: string;
  readonly activeTab: string | null;
  readonly tabs: readonly Tab[];
  readonly agents: readonly Agent[];
  readonly pending: readonly PermissionRequest[];
  readonly jobs: readonly Job[];
  /** How requests were answered that are gone from `pending`: the newest few. */
  readonly resolved: ReadonlyMap<string, string>;
}

const maxResolved = 50;

export function modelOf(snapshot: Snapshot): Model {
  return {
    rev: snapshot.rev,
    instance: snapshot.instance,
    version: snapshot.daemon.version,
    started: snapshot.daemon.started,
    scopes: snapshot.daemon.principal.scopes,
    workspace: snapshot.workspace.id,
    activeTab: snapshot.workspace.active_tab,
    tabs: snapshot.workspace.tabs,
    agents: snapshot.workspace.tabs.flatMap((tab) => tab.agents),
    pending: snapshot.pending,
    jobs: snapshot.jobs,
    resolved: new Map(),
  };
}

export function applyMissed(model: Model, missed: MissedChanges): Model {
  return { ...missed.changes.reduce(applyChange, model), rev: missed.rev };
}

/** Applies one change; what the page does not show leaves the model as it is. */
export function applyChange(model: Model, change: Change): Model {
  if (change.rev <= model.rev) return model;
  return { ...applyBody(model, change), rev: change.rev };
}

function applyBody(model: Model, change: Change): Model {
  switch (change.type) {
    case "tab_created":
    case "tab_updated":
      return change.tab.workspace === model.workspace
        ? { ...model, tabs: put(model.tabs, change.tab) }
        : model;
    case "tab_closed":
      return {
        ...model,
        tabs: model.tabs.filter((tab) => tab.id !== change.tab),
        agents: model.agents.filter((agent) => agent.tab !== change.tab),
      };
    case "agent_updated":
      return model.tabs.some((tab) => tab.id === change.agent.tab)
        ? { ...model, agents: put(model.agents, change.agent) }
        : model;
    case "job_started":
    case "job_finished":
      return { ...model, jobs: put(model.jobs, change.job) };
    case "mode":
      return {
        ...model,
        tabs: model.tabs.map((tab) => (tab.id === change.tab ? { ...tab, mode: change.mode } : tab)),
      };
    case "event":
      return applyEvent(model, change.event);
    default:
      return model;
  }
}

function applyEvent(model: Model, event: Extract<Change, { type: "event" }>["event"]): Model {
  if (event.type === "permission_requested") {
    if (model.pending.some((request) => request.request_id === event.request_id)) return model;
    return { ...model, pending: [...model.pending, event] };
  }
  if (event.type !== "permission_resolved") return model;
  const outcome =
    event.by === null ? "Cancelled" : `${event.allowed ? "Allowed" : "Denied"} by ${event.by.name}`;
  const resolved = new Map([...model.resolved, [event.request_id, outcome] as const].slice(-maxResolved));
  return {
    ...model,
    resolved,
    pending: model.pending.filter((request) => request.request_id !== event.request_id),
  };
}

function put<T extends { readonly id: string }>(list: readonly T[], item: T): readonly T[] {
  const known = list.some(({ id }) => id === item.id);
  return known ? list.map((old) => (old.id === item.id ? item : old)) : [...list, item];
}

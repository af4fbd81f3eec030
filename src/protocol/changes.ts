import type { AgentEvent } from "./events.ts";
import type {
  Agent,
  Awake,
  Job,
  Mode,
  PermissionRequest,
  Question,
  Remote,
  Tab,
  Workspace,
  WorkspaceRow,
} from "./objects.ts";
import type { Scope } from "./scopes.ts";

/** A change without its `rev`: what the engine, the daemon and the gateway append to the one ordered stream. */
export type ChangeBody =
  | {
      readonly type: "event";
      readonly workspace: string | null;
      readonly tab: string | null;
      readonly event: AgentEvent;
    }
  | { readonly type: "workspace_created" | "workspace_updated"; readonly workspace: WorkspaceRow }
  | { readonly type: "workspace_deleted"; readonly workspace: string }
  | { readonly type: "tab_created" | "tab_updated"; readonly tab: Tab }
  | { readonly type: "tab_closed"; readonly tab: string }
  | { readonly type: "tabs_reordered"; readonly workspace: string; readonly tabs: readonly string[] }
  | { readonly type: "agent_updated"; readonly agent: Agent }
  | { readonly type: "job_started" | "job_finished"; readonly job: Job }
  | { readonly type: "mode"; readonly tab: string; readonly mode: Mode }
  | { readonly type: "clients"; readonly count: number }
  | { readonly type: "remote"; readonly remote: Remote }
  | ({ readonly type: "awake" } & Awake)
  | { readonly type: "control"; readonly available: boolean; readonly permissions: readonly string[] }
  | { readonly type: "notice"; readonly message: string }
  | { readonly type: "reloaded" }
  | { readonly type: "shutdown"; readonly restart: boolean };

export type Change = ChangeBody & { readonly rev: number };

export interface SnapshotPrincipal {
  readonly kind: "master" | "device";
  readonly device: string | null;
  readonly scopes: readonly Scope[];
}

/** The part of a snapshot that the engine knows. */
export interface EngineSnapshot {
  readonly rev: number;
  readonly instance: string;
  readonly workspaces: readonly WorkspaceRow[];
  readonly workspace: Workspace;
  readonly pending: readonly PermissionRequest[];
  readonly questions: readonly Question[];
  readonly jobs: readonly Job[];
}

/** The first message of a connection: all of the daemon's state (wire.md, "Connecting, snapshot, changes"). */
export interface Snapshot extends EngineSnapshot {
  readonly type: "snapshot";
  readonly daemon: {
    readonly version: string;
    readonly pid: number;
    readonly started: string;
    readonly version_mismatch: boolean;
    readonly clients: number;
    readonly principal: SnapshotPrincipal;
  };
  readonly update: null;
  readonly control: { readonly available: boolean };
  readonly models: readonly unknown[];
  readonly default_model: string | null;
  readonly remote: Remote;
  readonly awake: Awake;
}

/** The first message after a connect with a `since` that is still in the ring. */
export interface MissedChanges {
  readonly type: "snapshot";
  readonly since: number;
  readonly rev: number;
  readonly instance: string;
  readonly changes: readonly Change[];
}

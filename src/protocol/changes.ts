import { type Static, type TSchema, Type } from "typebox";
import { AgentEventSchema } from "./events.ts";
import {
  AgentSchema,
  AwakeSchema,
  JobSchema,
  ModeSchema,
  PermissionRequestSchema,
  QuestionSchema,
  RemoteSchema,
  TabSchema,
  WorkspaceRowSchema,
  WorkspaceSchema,
} from "./objects.ts";
import { ModelSchema, RuntimeSchema, SessionRowSchema } from "./rest-objects.ts";
import { ScopeSchema } from "./scopes.ts";

/** What the daemon tells on its own accord: the snapshot, and every change after it (docs/protocol.md, "Changes"). */
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
/** Lists are shared between snapshots and changes: nobody writes into one. */
const list = <T extends TSchema>(schema: T) => Type.Unsafe<readonly Static<T>[]>(Type.Array(schema));
const Id = Type.String();
const Count = Type.Integer({ minimum: 0 });

/** The changes without their `rev`. */
export const changeBodies = {
  event: Type.Object({
    type: Type.Literal("event"),
    workspace: nullable(Id),
    tab: nullable(Id),
    event: AgentEventSchema,
  }),
  workspace_created: Type.Object({ type: Type.Literal("workspace_created"), workspace: WorkspaceRowSchema }),
  workspace_updated: Type.Object({ type: Type.Literal("workspace_updated"), workspace: WorkspaceRowSchema }),
  workspace_deleted: Type.Object({ type: Type.Literal("workspace_deleted"), workspace: Id }),
  tab_created: Type.Object({ type: Type.Literal("tab_created"), tab: TabSchema }),
  tab_updated: Type.Object({ type: Type.Literal("tab_updated"), tab: TabSchema }),
  tab_closed: Type.Object({ type: Type.Literal("tab_closed"), tab: Id }),
  tabs_reordered: Type.Object({ type: Type.Literal("tabs_reordered"), workspace: Id, tabs: list(Id) }),
  agent_updated: Type.Object({ type: Type.Literal("agent_updated"), agent: AgentSchema }),
  session_updated: Type.Object({ type: Type.Literal("session_updated"), session: SessionRowSchema }),
  session_deleted: Type.Object({ type: Type.Literal("session_deleted"), session: Id }),
  job_started: Type.Object({ type: Type.Literal("job_started"), job: JobSchema }),
  job_finished: Type.Object({ type: Type.Literal("job_finished"), job: JobSchema }),
  /** It is neither new nor over, but its workspace is another: its tab was moved. */
  job_updated: Type.Object({ type: Type.Literal("job_updated"), job: JobSchema }),
  mode: Type.Object({ type: Type.Literal("mode"), tab: Id, mode: ModeSchema }),
  clients: Type.Object({ type: Type.Literal("clients"), count: Count }),
  remote: Type.Object({ type: Type.Literal("remote"), remote: RemoteSchema }),
  awake: Type.Object({ type: Type.Literal("awake"), ...AwakeSchema.properties }),
  control: Type.Object({
    type: Type.Literal("control"),
    available: Type.Boolean(),
    permissions: list(Type.String()),
  }),
  notice: Type.Object({ type: Type.Literal("notice"), message: Type.String() }),
  reloaded: Type.Object({ type: Type.Literal("reloaded") }),
  shutdown: Type.Object({ type: Type.Literal("shutdown"), restart: Type.Boolean() }),
};

export type ChangeType = keyof typeof changeBodies;
/** A change without its `rev`: what the engine, the daemon and the gateway append to the one ordered stream. */
export type ChangeBody = {
  [T in ChangeType]: Readonly<Static<(typeof changeBodies)[T]>>;
}[ChangeType];
export type Change = ChangeBody & { readonly rev: number };

const changeSchemas: readonly TSchema[] = Object.values(changeBodies);
/** Any change, with its `rev`. */
export const ChangeSchema = Type.Unsafe<Change>(
  Type.Intersect([Type.Object({ rev: Count }), Type.Union([...changeSchemas])]),
);

const SnapshotPrincipalSchema = Type.Object({
  kind: Type.Union([Type.Literal("master"), Type.Literal("device")]),
  device: nullable(Id),
  scopes: list(ScopeSchema),
});
/** Published by the client library. */
export type SnapshotPrincipal = Static<typeof SnapshotPrincipalSchema>;

const engineFields = {
  rev: Count,
  instance: Type.String(),
  workspaces: list(WorkspaceRowSchema),
  workspace: WorkspaceSchema,
  pending: list(PermissionRequestSchema),
  questions: list(QuestionSchema),
  jobs: list(JobSchema),
};
const EngineSnapshotSchema = Type.Object(engineFields);
/** The part of a snapshot that the engine knows. */
export type EngineSnapshot = Readonly<Static<typeof EngineSnapshotSchema>>;

/** All of the daemon's state. */
export const FullSnapshotSchema = Type.Object({
  type: Type.Literal("snapshot"),
  ...engineFields,
  daemon: Type.Object({
    version: Type.String(),
    pid: Type.Integer(),
    started: Type.String(),
    version_mismatch: Type.Boolean(),
    clients: Count,
    principal: SnapshotPrincipalSchema,
  }),
  update: Type.Null(),
  control: Type.Object({ available: Type.Boolean() }),
  models: list(ModelSchema),
  default_model: nullable(Type.String()),
  runtimes: list(RuntimeSchema),
  default_runtime: Type.String(),
  add_agent: nullable(Type.String()),
  remote: RemoteSchema,
  awake: AwakeSchema,
});
/** The first message of a connection. */
export type Snapshot = Readonly<Static<typeof FullSnapshotSchema>>;

export const MissedChangesSchema = Type.Object({
  type: Type.Literal("snapshot"),
  since: Count,
  rev: Count,
  instance: Type.String(),
  changes: list(ChangeSchema),
});
/** The first message after a connect with a `since` that is still in the ring. */
export type MissedChanges = Readonly<Static<typeof MissedChangesSchema>>;

/** All of the state, or with a `since` that is still in the ring what was missed. */
export const SnapshotSchema = Type.Union([FullSnapshotSchema, MissedChangesSchema]);

/** What comes without a `rev` and without having been asked for: hints that a client acts on and does not apply. */
export const pushedSchemas = {
  lagged: Type.Object({ type: Type.Literal("lagged"), rev: Count }),
  job_more: Type.Object({
    type: Type.Literal("job_more"),
    job: Type.String(),
    size: Count,
    running: Type.Boolean(),
  }),
};

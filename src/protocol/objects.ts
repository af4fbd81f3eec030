import { type Static, Type } from "typebox";
import { ScopeSchema } from "./scopes.ts";

/** Objects that snapshots, changes and REST answers share (docs/protocol.md). Every one is flat, in snake_case, with `null` for unknown. */
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Id = Type.String();
const Time = Type.String({ description: "RFC 3339, UTC, with milliseconds" });

export const modes = ["ask", "edits", "autopilot"] as const;
export const ModeSchema = Type.Union([Type.Literal("ask"), Type.Literal("edits"), Type.Literal("autopilot")]);
export type Mode = Static<typeof ModeSchema>;

export const AgentStateSchema = Type.Union([
  Type.Literal("idle"),
  Type.Literal("running"),
  Type.Literal("waiting"),
  Type.Literal("closed"),
]);
export type AgentState = Static<typeof AgentStateSchema>;

export const AgentSchema = Type.Object({
  id: Id,
  tab: Id,
  parent: nullable(Id),
  label: nullable(Type.String()),
  title: nullable(Type.String()),
  runtime: Type.String(),
  model: nullable(Type.String()),
  /** How much its model thinks; null: as the model does by itself. */
  thinking: Type.Optional(nullable(Type.String())),
  state: AgentStateSchema,
  /** False for a saved session that was not prompted since the daemon started. */
  live: Type.Boolean(),
  turn: nullable(Id),
  queued: Type.Boolean(),
  updated: Time,
});
export type Agent = Static<typeof AgentSchema>;

/** A slash command of a project: `/name args` in a prompt is expanded by the agent. */
export const ProjectCommandSchema = Type.Object({
  name: Type.String(),
  description: nullable(Type.String()),
  argument_hint: nullable(Type.String()),
  /** Path of its file, relative to the folder that it was found in. */
  source: Type.String(),
});
export type ProjectCommand = Static<typeof ProjectCommandSchema>;

/** Where a tab's folder sits in its repository, as far as reading files tells. */
export const ProjectSchema = Type.Object({
  /** The root of the repository; null where there is none. */
  root: nullable(Type.String()),
  /** The tab's folder relative to the root; empty at the root itself. */
  subdir: nullable(Type.String()),
  /** The folders beside it, relative to the root. */
  siblings: Type.Array(Type.String()),
  /** True when the folder is one part of a larger repository: offer to open the root. */
  suggest_root: Type.Boolean(),
  branch: nullable(Type.String()),
  commands: Type.Array(ProjectCommandSchema),
});
export type Project = Static<typeof ProjectSchema>;

/** What a folder brings along that can run something; told when it becomes trusted. */
export const TrustedNowSchema = Type.Object({
  hooks: Type.Array(Type.Object({ source: Type.String(), name: Type.String(), command: Type.String() })),
  mcp_servers: Type.Array(
    Type.Object({ source: Type.String(), name: Type.String(), command: Type.String() }),
  ),
  commands: Type.Array(ProjectCommandSchema),
  /** True when there is more than is listed, or a file could not be read whole. */
  incomplete: Type.Boolean(),
});
export type TrustedNow = Static<typeof TrustedNowSchema>;

const tabFields = {
  id: Id,
  workspace: Id,
  name: Type.String(),
  cwd: Type.String(),
  mode: ModeSchema,
  /** What new agents of it run. */
  runtime: Type.String(),
  /** The model of new agents; null: as the runtime chooses. */
  model: Type.Optional(nullable(Type.String())),
  trusted: Type.Boolean(),
  loaded: Type.Boolean(),
  active_agent: nullable(Id),
  /** Null for a tab that was not loaded yet. */
  project: nullable(ProjectSchema),
  /** What whoever works in it must know of what runs there; absent where there is nothing to say. */
  note: Type.Optional(Type.String()),
};
export const TabSchema = Type.Object(tabFields);
export type Tab = Static<typeof TabSchema>;
export const TabWithAgentsSchema = Type.Object({ ...tabFields, agents: Type.Array(AgentSchema) });
export type TabWithAgents = Static<typeof TabWithAgentsSchema>;

export const WorkspaceRowSchema = Type.Object({
  id: Id,
  name: Type.String(),
  tabs: Type.Integer(),
  used: Time,
  /** How clients hear that another tab became the active one. */
  active_tab: nullable(Id),
});
export type WorkspaceRow = Static<typeof WorkspaceRowSchema>;
export const WorkspaceSchema = Type.Object({
  id: Id,
  name: Type.String(),
  active_tab: nullable(Id),
  tabs: Type.Array(TabWithAgentsSchema),
});
export type Workspace = Static<typeof WorkspaceSchema>;

export const PermissionRequestSchema = Type.Object({
  request_id: Id,
  workspace: Id,
  tab: Id,
  /** Agent, turn and call are null when a device without `approve` asked for a job. */
  agent: nullable(Id),
  turn: nullable(Id),
  call_id: nullable(Type.String()),
  tool: Type.String(),
  summary: Type.String(),
  input: Type.Unknown(),
  cwd: Type.String(),
  /** The rule that `allow_session` would add, as it is shown; null where the call cannot be generalised. */
  allow_session: nullable(Type.String()),
  digest: Type.String(),
  at: Time,
  /** What whoever answers must know of the agent that asks; shown with the request. */
  note: Type.Optional(Type.String()),
});
export type PermissionRequest = Static<typeof PermissionRequestSchema>;

export const QuestionSchema = Type.Object({
  request_id: Id,
  workspace: Id,
  tab: Id,
  agent: Id,
  turn: Id,
  call_id: nullable(Type.String()),
  subagent: nullable(Type.String()),
  questions: Type.Array(
    Type.Object({
      prompt: Type.String(),
      options: Type.Array(Type.Object({ label: Type.String(), description: nullable(Type.String()) })),
      multiple: Type.Boolean(),
    }),
  ),
  at: Time,
});
export type Question = Static<typeof QuestionSchema>;

export const JobStateSchema = Type.Union([
  Type.Literal("running"),
  Type.Literal("exited"),
  Type.Literal("killed"),
  Type.Literal("failed"),
  Type.Literal("lost"),
]);
export type JobState = Static<typeof JobStateSchema>;

export const JobSchema = Type.Object({
  id: Type.String({ description: "8 hex digits" }),
  workspace: nullable(Id),
  tab: nullable(Id),
  agent: nullable(Id),
  command: Type.String(),
  cwd: Type.String(),
  pid: nullable(Type.Integer()),
  state: JobStateSchema,
  exit_code: nullable(Type.Integer({ description: "the shell's $?, 128+n for a signal" })),
  reason: nullable(Type.String()),
  started: Time,
  ended: nullable(Time),
  bytes: Type.Integer(),
});
export type Job = Static<typeof JobSchema>;

/** One chunk of a job's log, the same object on the socket and over REST. */
export const JobOutputSchema = Type.Object({
  type: Type.Literal("job_output"),
  job: Type.String(),
  offset: Type.Integer(),
  next_offset: Type.Integer(),
  size: Type.Integer(),
  output: Type.String(),
  done: Type.Boolean(),
  incomplete: Type.Boolean(),
});
export type JobOutput = Static<typeof JobOutputSchema>;

export const DeviceKindSchema = Type.Union([
  Type.Literal("phone"),
  Type.Literal("tablet"),
  Type.Literal("browser"),
  Type.Literal("desktop"),
  Type.Literal("cli"),
  Type.Literal("other"),
]);
export type DeviceKind = Static<typeof DeviceKindSchema>;

const pairedDeviceFields = {
  id: Id,
  name: Type.String(),
  kind: DeviceKindSchema,
  scopes: Type.Array(ScopeSchema),
  created: Time,
  expires: nullable(Time),
};
export const PairedDeviceSchema = Type.Object(pairedDeviceFields);
export type PairedDevice = Static<typeof PairedDeviceSchema>;
export const DeviceSchema = Type.Object({
  ...pairedDeviceFields,
  last_seen: nullable(Time),
  connected: Type.Integer(),
  current: Type.Boolean(),
});
export type Device = Static<typeof DeviceSchema>;

export const AddressKindSchema = Type.Union([
  Type.Literal("tunnel"),
  Type.Literal("lan"),
  Type.Literal("local"),
]);
export type AddressKind = Static<typeof AddressKindSchema>;
export const AccessSchema = Type.Union([Type.Literal("off"), Type.Literal("tunnel"), Type.Literal("on")]);
export type Access = Static<typeof AccessSchema>;

export const TunnelSchema = Type.Object({
  provider: nullable(Type.String()),
  state: Type.Union([
    Type.Literal("off"),
    Type.Literal("starting"),
    Type.Literal("waiting"),
    Type.Literal("up"),
    Type.Literal("failed"),
  ]),
  url: nullable(Type.String()),
  text: nullable(Type.String()),
  link: nullable(Type.String()),
  reason: nullable(Type.String()),
  next_try: nullable(Time),
});
export type Tunnel = Static<typeof TunnelSchema>;

export const RemoteSchema = Type.Object({
  access: AccessSchema,
  bound: Type.Array(Type.String()),
  addresses: Type.Array(Type.Object({ kind: AddressKindSchema, address: Type.String() })),
  tunnel: TunnelSchema,
  devices: Type.Integer(),
});
export type Remote = Static<typeof RemoteSchema>;

export const AwakeModeSchema = Type.Union([
  Type.Literal("busy"),
  Type.Literal("always"),
  Type.Literal("off"),
]);
export type AwakeMode = Static<typeof AwakeModeSchema>;
export const AwakeSchema = Type.Object({
  mode: AwakeModeSchema,
  /** True while the machine is kept from sleeping. */
  active: Type.Boolean(),
  /** False where this machine has nothing to keep it awake with, or that failed. */
  available: Type.Boolean(),
  /** Why it is not available, and what would help. */
  message: Type.Optional(Type.String()),
});
export type Awake = Static<typeof AwakeSchema>;

export const DecisionSchema = Type.Union([
  Type.Literal("allow"),
  Type.Literal("allow_session"),
  Type.Literal("deny"),
]);
export type Decision = Static<typeof DecisionSchema>;

/** Who did something: a paired device, or `{"device":null,"name":"local"}` for the master token. */
export const BySchema = Type.Object({ device: nullable(Id), name: Type.String() });
export type By = Static<typeof BySchema>;

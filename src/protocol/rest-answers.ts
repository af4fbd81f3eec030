import { Type } from "typebox";
import {
  AddressKindSchema,
  AwakeSchema,
  DeviceSchema,
  JobSchema,
  PairedDeviceSchema,
  PermissionRequestSchema,
  QuestionSchema,
  RemoteSchema,
  WorkspaceRowSchema,
  WorkspaceSchema,
} from "./objects.ts";
import { ToolSchema } from "./rest-objects.ts";
import { ScopeSchema } from "./scopes.ts";

/** The answers of the REST routes, for the description of the interface. More fields may be added. */
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Id = Type.String();
const Time = Type.String({ description: "RFC 3339, UTC, with milliseconds" });
const Count = Type.Integer({ minimum: 0 });

/** An agent's event: the fields of its type stand beside these. */
const AgentEventSchema = Type.Object({
  agent: nullable(Id),
  seq: Type.Integer(),
  at: Time,
  type: Type.String(),
});

export const HelloSchema = Type.Object({
  app: Type.Literal("sallyport"),
  version: Type.String(),
  remote: Type.Boolean(),
  pairing: Type.Boolean(),
  protocols: Type.Array(Type.String()),
  proof: Type.Optional(Type.String()),
});
export const PairAnswerSchema = Type.Object({
  token: Type.String(),
  device: PairedDeviceSchema,
  version: Type.String(),
});
export const PairingCodeSchema = Type.Object({
  code: Type.String(),
  expires: Time,
  scopes: Type.Array(ScopeSchema),
  offers: Type.Array(
    Type.Object({
      kind: AddressKindSchema,
      address: Type.String(),
      link: Type.String(),
      qr: Type.String({ description: "an SVG" }),
    }),
  ),
});
export const DeviceListSchema = Type.Object({ devices: Type.Array(DeviceSchema) });
export const TicketSchema = Type.Object({ ticket: Type.String(), expires: Time });

export const DaemonSchema = Type.Object({
  version: Type.String(),
  pid: Type.Integer(),
  started: Time,
  instance: Type.String(),
  clients: Count,
  workspaces: Count,
  loaded_tabs: Count,
  running_agents: Count,
  running_jobs: Count,
  pending: Count,
  idle_minutes: nullable(Type.Integer()),
  remote: RemoteSchema,
  awake: AwakeSchema,
});
export const AckSchema = Type.Object({ type: Type.Literal("ack") });

const FullSnapshotSchema = Type.Object({
  type: Type.Literal("snapshot"),
  rev: Count,
  instance: Type.String(),
  daemon: Type.Object({
    version: Type.String(),
    pid: Type.Integer(),
    started: Time,
    version_mismatch: Type.Boolean(),
    clients: Count,
    principal: Type.Object({
      kind: Type.Union([Type.Literal("master"), Type.Literal("device")]),
      device: nullable(Id),
      scopes: Type.Array(ScopeSchema),
    }),
  }),
  workspaces: Type.Array(WorkspaceRowSchema),
  workspace: WorkspaceSchema,
  pending: Type.Array(PermissionRequestSchema),
  questions: Type.Array(QuestionSchema),
  jobs: Type.Array(JobSchema),
  update: Type.Unknown(),
  control: Type.Object({ available: Type.Boolean() }),
  models: Type.Array(Type.Unknown()),
  default_model: nullable(Type.String()),
  remote: RemoteSchema,
  awake: AwakeSchema,
});
const MissedChangesSchema = Type.Object({
  type: Type.Literal("snapshot"),
  since: Count,
  rev: Count,
  instance: Type.String(),
  changes: Type.Array(Type.Object({ type: Type.String(), rev: Count })),
});
/** All of the state, or with a `since` that is still in the ring what was missed. */
export const SnapshotSchema = Type.Union([FullSnapshotSchema, MissedChangesSchema]);

/** The command's own reply, `ack`, or what its type says; the page on the protocol lists them. */
export const CommandReplySchema = Type.Object({
  type: Type.String(),
  client_ref: Type.Optional(Type.String()),
});

export const WorkspaceListSchema = Type.Object({ workspaces: Type.Array(WorkspaceRowSchema) });
export const JobListSchema = Type.Object({ jobs: Type.Array(JobSchema) });
export const SessionPageSchema = Type.Object({
  records: Type.Array(AgentEventSchema),
  before: nullable(Count),
  seq: Count,
  streaming: nullable(
    Type.Object({
      message: nullable(Type.String()),
      text: Type.String(),
      thinking: Type.String(),
      tools: Type.Array(Type.Object({ call_id: Type.String(), output: Type.String() })),
    }),
  ),
  damaged_records: Count,
});
export const ToolListSchema = Type.Object({ tools: Type.Array(ToolSchema) });

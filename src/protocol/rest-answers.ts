import { Type } from "typebox";
import { AgentEventSchema } from "./events.ts";
import {
  AddressKindSchema,
  AwakeSchema,
  DeviceSchema,
  JobSchema,
  PairedDeviceSchema,
  RemoteSchema,
  WorkspaceRowSchema,
} from "./objects.ts";
import { ToolSchema } from "./rest-objects.ts";
import { ScopeSchema } from "./scopes.ts";

/** The answers of the REST routes, for the description of the interface. More fields may be added. */
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Time = Type.String({ description: "RFC 3339, UTC, with milliseconds" });
const Count = Type.Integer({ minimum: 0 });

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

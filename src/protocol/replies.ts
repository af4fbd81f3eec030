import { type Static, type TSchema, Type } from "typebox";
import { errorStatus } from "../errors.ts";
import { SnapshotSchema } from "./changes.ts";
import type { CommandType } from "./commands.ts";
import {
  AwakeSchema,
  DecisionSchema,
  JobOutputSchema,
  JobSchema,
  ModeSchema,
  TrustedNowSchema,
  WorkspaceRowSchema,
  WorkspaceSchema,
} from "./objects.ts";
import { SessionRowSchema } from "./rest-objects.ts";

/** What each command is answered with when it was not refused; `client_ref` is there when the command had one. */
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Id = Type.String();
const clientRef = { client_ref: Type.Optional(Type.String()) };
const ack = { type: Type.Literal("ack"), ...clientRef };
const trustedNow = { trusted_now: Type.Optional(TrustedNowSchema) };

/** The one shape of every refusal, over REST too. */
export const ErrorSchema = Type.Object({
  type: Type.Literal("error"),
  code: Type.Union(Object.keys(errorStatus).map((code) => Type.Literal(code))),
  message: Type.String(),
  reason: Type.Optional(Type.String()),
  field: Type.Optional(Type.String()),
  retry_after: Type.Optional(Type.Integer()),
  ...clientRef,
});

const AgentAckSchema = Type.Object({ ...ack, agent: Id });
const TabAgentAckSchema = Type.Object({ ...ack, tab: Id, agent: Id });
const NamedWorkspaceAckSchema = Type.Object({ ...ack, workspace: Id, name: Type.String() });
const JobAckSchema = Type.Object({ ...ack, job: Id });

export const replySchemas = {
  prompt: Type.Object({
    ...ack,
    /** Null for a prompt without one. */
    request_id: nullable(Type.String()),
    status: Type.Literal("accepted"),
    workspace: Id,
    tab: Id,
    agent: Id,
    turn: Id,
  }),
  receipt: Type.Object({
    type: Type.Literal("receipt"),
    ...clientRef,
    request_id: Type.String(),
    status: Type.Union([Type.Literal("accepted"), Type.Literal("rejected"), Type.Literal("unknown")]),
    agent: nullable(Id),
    turn: nullable(Id),
    message: nullable(Type.String()),
  }),
  cancel: AgentAckSchema,
  approve: Type.Object({ ...ack, request_id: Id, decision: DecisionSchema }),
  answer: Type.Object({ ...ack, request_id: Id, cancelled: Type.Boolean() }),
  mode: Type.Object({ ...ack, workspace: Id, tab: Id, mode: ModeSchema }),
  agent_start: TabAgentAckSchema,
  agent_close: AgentAckSchema,
  agent_open: TabAgentAckSchema,
  agent_activate: TabAgentAckSchema,
  compact: Type.Object({ ...ack, workspace: Id, tab: Id, agent: Id, turn: Id }),
  clear: TabAgentAckSchema,
  model: Type.Object({ ...ack, tab: Id, agent: Id, model: nullable(Type.String()) }),
  thinking: Type.Object({ ...ack, tab: Id, agent: Id, thinking: nullable(Type.String()) }),
  session_update: Type.Object({ ...ack, session: SessionRowSchema }),
  tab_create: Type.Object({ ...ack, workspace: Id, tab: Id, ...trustedNow }),
  tab_close: Type.Object({ ...ack, tab: Id }),
  tab_activate: Type.Object({ ...ack, workspace: Id, tab: Id }),
  tab_rename: Type.Object({ ...ack, workspace: Id, tab: Id, name: Type.String() }),
  tab_runtime: Type.Object({
    ...ack,
    workspace: Id,
    tab: Id,
    runtime: Type.String(),
    model: nullable(Type.String()),
  }),
  tab_move: Type.Object({ ...ack, workspace: Id, tab: Id, index: Type.Integer() }),
  launch: Type.Object({
    type: Type.Literal("launched"),
    ...clientRef,
    workspace: Id,
    tab: Id,
    /** With a prompt only. */
    agent: Type.Optional(Id),
    turn: Type.Optional(Id),
    ...trustedNow,
  }),
  workspace_list: Type.Object({
    type: Type.Literal("workspaces"),
    ...clientRef,
    workspaces: Type.Array(WorkspaceRowSchema),
  }),
  workspace_create: NamedWorkspaceAckSchema,
  workspace_open: Type.Object({
    type: Type.Literal("workspace_opened"),
    ...clientRef,
    workspace: WorkspaceSchema,
  }),
  workspace_rename: NamedWorkspaceAckSchema,
  workspace_delete: Type.Object({ ...ack, workspace: Id }),
  /** The second for a device without `approve`: the job waits for a permission. */
  job_start: Type.Union([
    Type.Object({ type: Type.Literal("job_started"), ...clientRef, job: JobSchema }),
    Type.Object({ ...ack, request_id: Id }),
  ]),
  job_list: Type.Object({ type: Type.Literal("jobs"), ...clientRef, jobs: Type.Array(JobSchema) }),
  job_output: Type.Object({ ...JobOutputSchema.properties, ...clientRef }),
  job_follow: Type.Object({ ...ack, job: Id, on: Type.Boolean() }),
  job_kill: JobAckSchema,
  snapshot: SnapshotSchema,
  keep_awake: Type.Object({ type: Type.Literal("awake"), ...clientRef, ...AwakeSchema.properties }),
  control_permissions: Type.Object({
    type: Type.Literal("control"),
    ...clientRef,
    available: Type.Boolean(),
    permissions: Type.Array(Type.String()),
  }),
  ping: Type.Object({ type: Type.Literal("pong"), ...clientRef, at: Type.String() }),
} satisfies Record<CommandType, TSchema>;

/** What a command of type `T` is answered with. */
export type ReplyOf<T extends CommandType> = Static<(typeof replySchemas)[T]>;

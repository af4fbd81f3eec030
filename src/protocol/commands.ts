import { type Static, Type } from "typebox";
import { limits } from "./limits.ts";
import { AwakeModeSchema, DecisionSchema, ModeSchema } from "./objects.ts";

/** Commands of the native dialect, over the socket and `POST /api/command`. Unknown extra fields are ignored: more may be added. */
const Id = Type.String({ minLength: 1, maxLength: 64 });
const JobId = Type.String({ minLength: 1, maxLength: 64 });
const Label = Type.String({ maxLength: limits.labelChars });
const Name = Type.String({ minLength: 1, maxLength: limits.labelChars });
const Path = Type.String({ minLength: 1, maxLength: limits.pathBytes });
const clientRef = { client_ref: Type.Optional(Type.String({ maxLength: 128 })) };
const RequestId = Type.String({ minLength: 1, maxLength: limits.requestIdChars });

export const commandSchemas = {
  prompt: Type.Object({
    type: Type.Literal("prompt"),
    ...clientRef,
    agent: Type.Optional(Id),
    tab: Type.Optional(Id),
    text: Type.String({ maxLength: limits.promptChars }),
    request_id: Type.Optional(RequestId),
    queue: Type.Optional(Type.Boolean()),
    images: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String({ maxLength: limits.labelChars }),
          /** A hint only: what the bytes are is looked at. */
          mime: Type.Optional(Type.String({ maxLength: 100 })),
          data: Type.String(),
        }),
        { maxItems: limits.images },
      ),
    ),
    attachments: Type.Optional(Type.Array(Type.Object({ path: Path }), { maxItems: limits.attachments })),
  }),
  receipt: Type.Object({ type: Type.Literal("receipt"), ...clientRef, request_id: RequestId }),
  cancel: Type.Object({ type: Type.Literal("cancel"), ...clientRef, agent: Id }),
  approve: Type.Object({
    type: Type.Literal("approve"),
    ...clientRef,
    request_id: Id,
    decision: DecisionSchema,
    digest: Type.Optional(Type.String({ maxLength: 128 })),
  }),
  answer: Type.Object({
    type: Type.Literal("answer"),
    ...clientRef,
    request_id: Id,
    /** One for each question, in their order; not needed when `cancelled`. */
    answers: Type.Optional(
      Type.Array(Type.String({ maxLength: limits.answerChars }), { maxItems: limits.answers }),
    ),
    cancelled: Type.Optional(Type.Boolean()),
  }),
  mode: Type.Object({ type: Type.Literal("mode"), ...clientRef, tab: Id, mode: ModeSchema }),
  agent_start: Type.Object({
    type: Type.Literal("agent_start"),
    ...clientRef,
    tab: Type.Optional(Id),
    label: Type.Optional(Label),
    runtime: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    model: Type.Optional(Type.String({ minLength: 1, maxLength: limits.modelChars })),
  }),
  agent_close: Type.Object({ type: Type.Literal("agent_close"), ...clientRef, agent: Id }),
  agent_open: Type.Object({ type: Type.Literal("agent_open"), ...clientRef, agent: Id }),
  agent_activate: Type.Object({ type: Type.Literal("agent_activate"), ...clientRef, agent: Id }),
  compact: Type.Object({ type: Type.Literal("compact"), ...clientRef, agent: Id }),
  clear: Type.Object({ type: Type.Literal("clear"), ...clientRef, agent: Id }),
  thinking: Type.Object({
    type: Type.Literal("thinking"),
    ...clientRef,
    agent: Id,
    /** One of the model's `thinking`; null for none. */
    thinking: Type.Union([Type.String({ minLength: 1, maxLength: 64 }), Type.Null()]),
  }),
  session_update: Type.Object({
    type: Type.Literal("session_update"),
    ...clientRef,
    session: Id,
    title: Type.Optional(Type.String({ minLength: 1, maxLength: limits.labelChars })),
    pinned: Type.Optional(Type.Boolean()),
    archived: Type.Optional(Type.Boolean()),
  }),
  model: Type.Object({
    type: Type.Literal("model"),
    ...clientRef,
    agent: Id,
    model: Type.String({ minLength: 1, maxLength: limits.modelChars }),
  }),
  tab_create: Type.Object({
    type: Type.Literal("tab_create"),
    ...clientRef,
    workspace: Type.Optional(Id),
    cwd: Path,
    name: Type.Optional(Label),
    mode: Type.Optional(ModeSchema),
    /** What runs in it; default: as the configuration says. */
    runtime: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  }),
  tab_close: Type.Object({ type: Type.Literal("tab_close"), ...clientRef, tab: Id }),
  tab_activate: Type.Object({ type: Type.Literal("tab_activate"), ...clientRef, tab: Id }),
  tab_rename: Type.Object({ type: Type.Literal("tab_rename"), ...clientRef, tab: Id, name: Name }),
  tab_runtime: Type.Object({
    type: Type.Literal("tab_runtime"),
    ...clientRef,
    tab: Id,
    runtime: Type.String({ minLength: 1, maxLength: 64 }),
    model: Type.Optional(Type.String({ minLength: 1, maxLength: limits.modelChars })),
    /** For new tabs on its folder too. */
    project: Type.Optional(Type.Boolean()),
  }),
  tab_move: Type.Object({
    type: Type.Literal("tab_move"),
    ...clientRef,
    tab: Id,
    /** Where it goes; without one it stays in its workspace. */
    workspace: Type.Optional(Id),
    /** Its place there afterwards, from 0. */
    index: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  }),
  launch: Type.Object({
    type: Type.Literal("launch"),
    ...clientRef,
    /** A name that no workspace has makes one. Default: the last used. */
    workspace: Type.Optional(
      Type.Union([
        Type.Literal("last"),
        Type.Literal("new"),
        Type.Object({ name: Name }, { additionalProperties: false }),
        Type.Object({ id: Id }, { additionalProperties: false }),
      ]),
    ),
    /** Its tab is found or made; without it the workspace's active tab. */
    cwd: Type.Optional(Path),
    /** The first prompt of a new agent. */
    text: Type.Optional(Type.String({ maxLength: limits.promptChars })),
    mode: Type.Optional(ModeSchema),
  }),
  workspace_list: Type.Object({ type: Type.Literal("workspace_list"), ...clientRef }),
  workspace_create: Type.Object({ type: Type.Literal("workspace_create"), ...clientRef, name: Name }),
  workspace_open: Type.Object({ type: Type.Literal("workspace_open"), ...clientRef, workspace: Id }),
  workspace_rename: Type.Object({
    type: Type.Literal("workspace_rename"),
    ...clientRef,
    workspace: Id,
    name: Name,
  }),
  workspace_delete: Type.Object({ type: Type.Literal("workspace_delete"), ...clientRef, workspace: Id }),
  job_start: Type.Object({
    type: Type.Literal("job_start"),
    ...clientRef,
    tab: Type.Optional(Id),
    command: Type.String({ minLength: 1, maxLength: 128 * 1024 }),
  }),
  job_list: Type.Object({ type: Type.Literal("job_list"), ...clientRef }),
  job_output: Type.Object({
    type: Type.Literal("job_output"),
    ...clientRef,
    job: JobId,
    offset: Type.Optional(Type.Integer()),
    limit: Type.Optional(Type.Integer()),
    tail: Type.Optional(Type.Integer()),
  }),
  job_follow: Type.Object({ type: Type.Literal("job_follow"), ...clientRef, job: JobId, on: Type.Boolean() }),
  job_kill: Type.Object({ type: Type.Literal("job_kill"), ...clientRef, job: JobId }),
  snapshot: Type.Object({
    type: Type.Literal("snapshot"),
    ...clientRef,
    since: Type.Optional(Type.Integer({ minimum: 0 })),
    instance: Type.Optional(Type.String({ maxLength: 64 })),
  }),
  keep_awake: Type.Object({ type: Type.Literal("keep_awake"), ...clientRef, mode: AwakeModeSchema }),
  control_permissions: Type.Object({
    type: Type.Literal("control_permissions"),
    ...clientRef,
    /** Show the system's own prompts, where there are any. */
    request: Type.Optional(Type.Boolean()),
  }),
  ping: Type.Object({ type: Type.Literal("ping"), ...clientRef }),
};

export type CommandType = keyof typeof commandSchemas;
export type CommandOf<T extends CommandType> = Static<(typeof commandSchemas)[T]>;
export type Command = { [T in CommandType]: CommandOf<T> }[CommandType];

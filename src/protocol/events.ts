import { type Static, type TSchema, Type } from "typebox";
import { BySchema, DecisionSchema, PermissionRequestSchema, QuestionSchema } from "./objects.ts";

/** Agent events (docs/protocol.md, "Events of an agent"). The envelope adds `agent`, `seq` and `at`; deltas are not kept in transcripts. */
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Id = Type.String();

export const agentEventBodies = {
  agent_started: Type.Object({
    type: Type.Literal("agent_started"),
    label: nullable(Type.String()),
    parent: nullable(Id),
    runtime: Type.String(),
    model: nullable(Type.String()),
    cwd: Type.String(),
    /** The call of its parent that started a subagent. */
    call_id: Type.Optional(nullable(Type.String())),
  }),
  agent_finished: Type.Object({ type: Type.Literal("agent_finished"), outcome: Type.String() }),
  turn_started: Type.Object({
    type: Type.Literal("turn_started"),
    turn: Id,
    request_id: Type.Optional(Type.String()),
  }),
  user_message: Type.Object({
    type: Type.Literal("user_message"),
    turn: Id,
    text: Type.String(),
    attachments: Type.Array(Type.Object({ name: Type.String(), kind: Type.String() })),
    by: BySchema,
  }),
  text_delta: Type.Object({ type: Type.Literal("text_delta"), message: Type.String(), text: Type.String() }),
  thinking_delta: Type.Object({
    type: Type.Literal("thinking_delta"),
    message: Type.String(),
    text: Type.String(),
  }),
  tool_call_streaming: Type.Object({ type: Type.Literal("tool_call_streaming"), tool: Type.String() }),
  assistant_message: Type.Object({
    type: Type.Literal("assistant_message"),
    message: Type.Object({ id: Type.String(), text: Type.String(), thinking: Type.Optional(Type.String()) }),
  }),
  tool_started: Type.Object({
    type: Type.Literal("tool_started"),
    call_id: Type.String(),
    tool: Type.String(),
    summary: Type.String(),
    input: Type.Unknown(),
  }),
  tool_output: Type.Object({
    type: Type.Literal("tool_output"),
    call_id: Type.String(),
    text: Type.String(),
  }),
  tool_finished: Type.Object({
    type: Type.Literal("tool_finished"),
    call_id: Type.String(),
    tool: Type.String(),
    output: Type.String(),
    is_error: Type.Boolean(),
    millis: Type.Integer(),
    exit_code: Type.Optional(nullable(Type.Integer())),
    /** Of a call that changed a file: the patch in unified form. */
    diff: Type.Optional(Type.Object({ path: Type.String(), patch: Type.String() })),
    job: Type.Optional(Type.String()),
  }),
  permission_requested: Type.Intersect([
    Type.Object({ type: Type.Literal("permission_requested") }),
    PermissionRequestSchema,
  ]),
  permission_resolved: Type.Object({
    type: Type.Literal("permission_resolved"),
    request_id: Id,
    allowed: Type.Boolean(),
    decision: nullable(DecisionSchema),
    by: nullable(BySchema),
  }),
  question_asked: Type.Intersect([Type.Object({ type: Type.Literal("question_asked") }), QuestionSchema]),
  question_resolved: Type.Object({
    type: Type.Literal("question_resolved"),
    request_id: Id,
    cancelled: Type.Boolean(),
    by: nullable(BySchema),
    /** One for each question; absent when nobody answered. */
    answers: Type.Optional(Type.Array(Type.String())),
  }),
  todos: Type.Object({
    type: Type.Literal("todos"),
    todos: Type.Array(Type.Object({ id: Type.String(), content: Type.String(), status: Type.String() })),
  }),
  usage: Type.Object({
    type: Type.Literal("usage"),
    input_tokens: Type.Integer(),
    output_tokens: Type.Integer(),
    cache_read_tokens: Type.Integer(),
    cache_write_tokens: Type.Integer(),
    cost: nullable(Type.Number()),
    context_tokens: nullable(Type.Integer()),
  }),
  model_changed: Type.Object({ type: Type.Literal("model_changed"), model: nullable(Type.String()) }),
  /** The level of thinking that the agent's next turns ask for; null: the model's own. */
  thinking_changed: Type.Object({
    type: Type.Literal("thinking_changed"),
    thinking: nullable(Type.String()),
  }),
  compacted: Type.Object({ type: Type.Literal("compacted"), summary: Type.String() }),
  /** From here on the agent knows nothing of what was said before. */
  cleared: Type.Object({ type: Type.Literal("cleared") }),
  title: Type.Object({ type: Type.Literal("title"), title: Type.String() }),
  notice: Type.Object({ type: Type.Literal("notice"), message: Type.String() }),
  error: Type.Object({ type: Type.Literal("error"), code: Type.String(), message: Type.String() }),
  turn_finished: Type.Object({
    type: Type.Literal("turn_finished"),
    turn: Id,
    outcome: Type.Union([Type.Literal("done"), Type.Literal("cancelled"), Type.Literal("failed")]),
    error: Type.Optional(Type.String()),
  }),
};

export type AgentEventType = keyof typeof agentEventBodies;
export type AgentEventBody = { [T in AgentEventType]: Static<(typeof agentEventBodies)[T]> }[AgentEventType];
/** What every event carries beside its body. `seq` grows over all agents and over restarts. */
const EnvelopeSchema = Type.Object({
  /** Null for a permission request that no agent made: a job that a device without `approve` asked for. */
  agent: nullable(Id),
  seq: Type.Integer(),
  at: Type.String(),
});
export type AgentEventEnvelope = Readonly<Static<typeof EnvelopeSchema>>;
export type AgentEvent = AgentEventEnvelope & AgentEventBody;

const bodySchemas: readonly TSchema[] = Object.values(agentEventBodies);
/** Any event. The type is stated: to infer it from the union would cost the type checker much. */
export const AgentEventSchema = Type.Unsafe<AgentEvent>(
  Type.Intersect([EnvelopeSchema, Type.Union([...bodySchemas])]),
);

/** Events that are live only: a transcript holds the finished message or call instead. */
export const deltaEventTypes: ReadonlySet<AgentEventType> = new Set([
  "text_delta",
  "thinking_delta",
  "tool_call_streaming",
  "tool_output",
]);

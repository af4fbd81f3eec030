import { type Static, type TSchema, Type } from "typebox";

/** Values inside mew messages. Optional fields are absent when unknown; times are milliseconds since 1970. */
const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const list = <T extends TSchema>(schema: T) => Type.Unsafe<readonly Static<T>[]>(Type.Array(schema));
const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });
const Ms = Type.Integer();
/** 26 characters of Crockford base32. */
const Ulid = Type.String({ pattern: "^[0-7][0-9A-HJKMNP-TV-Z]{25}$" });
const oneOf = <const V extends readonly string[]>(...values: V) =>
  Type.Unsafe<V[number]>(Type.Union(values.map((value) => Type.Literal(value))));

export const MewSessionStateSchema = oneOf("active", "idle", "running");
export type MewSessionState = Static<typeof MewSessionStateSchema>;
export const mewClientKinds = ["tui", "web", "desktop", "cli", "mobile", "remote", "unknown"] as const;
export const MewClientKindSchema = oneOf(...mewClientKinds);
export type MewClientKind = Static<typeof MewClientKindSchema>;
export const MewDecisionSchema = oneOf("allow_once", "allow_session", "deny");
export const MewAlertKindSchema = oneOf("turn_complete", "turn_failed", "permission_needed", "input_needed");
export const MewJobStateSchema = oneOf("running", "completed", "failed", "cancelled");
export type MewJobState = Static<typeof MewJobStateSchema>;
export const MewFinishSchema = oneOf("stop", "length", "tool_use", "error");
export type MewFinish = Static<typeof MewFinishSchema>;
export const MewReceiptStatusSchema = oneOf("accepted", "rejected", "unknown");

/** Tagged from outside: the name alone, or an object of the one key. */
export const MewOutcomeSchema = Type.Union([
  Type.Literal("completed"),
  Type.Literal("cancelled"),
  Type.Object({ failed: Type.Object({ reason: Text }) }),
]);
export type MewOutcome = Static<typeof MewOutcomeSchema>;

export const MewQuestionSchema = Type.Object({
  prompt: Text,
  options: list(Type.Object({ label: Text, description: Text })),
});
export const MewTodoSchema = Type.Object({
  id: Count,
  content: Text,
  status: Text,
  depends_on: list(Count),
});
export type MewTodo = Static<typeof MewTodoSchema>;

export const MewUsageSchema = Type.Object({
  input_tokens: Count,
  output_tokens: Count,
  cache_read_tokens: Count,
  cache_write_tokens: Count,
  cost: Type.Number(),
  turns: Count,
});
export type MewUsage = Static<typeof MewUsageSchema>;

export const MewSessionInfoSchema = Type.Object({
  session_id: Text,
  state: MewSessionStateSchema,
  created_at: Ms,
  last_message_at: optional(Ms),
  client_count: Count,
  last_turn_failed: Type.Boolean(),
  archived: Type.Boolean(),
  pinned: Type.Boolean(),
  pending_permissions: Count,
  pending_questions: Count,
  model: optional(Text),
  provider: optional(Text),
  /** An addition; clients that do not know it show `summary`. */
  title: optional(Text),
  summary: optional(Text),
  cwd: optional(Text),
  workspace_path: optional(Text),
  usage: optional(MewUsageSchema),
  context_tokens: optional(Count),
  first_message: optional(Text),
});
export type MewSessionInfo = Static<typeof MewSessionInfoSchema>;

export const MewProjectInfoSchema = Type.Object({
  path: Text,
  display_name: Text,
  session_count: Count,
  last_used_at: optional(Ms),
  pinned: Type.Boolean(),
});

export const MewModelInfoSchema = Type.Object({
  id: Text,
  provider: Text,
  model: Text,
  description: optional(Text),
  thinking_variants: optional(list(Type.Object({ name: Text }))),
  context_window: optional(Count),
});
export type MewModelInfo = Static<typeof MewModelInfoSchema>;

export const MewDirEntrySchema = Type.Object({ name: Text, is_dir: Type.Boolean(), size: optional(Count) });

const toolTime = { time: Type.Object({ start: Ms, end: optional(Ms) }) };
/** Tagged by `status`. */
export const MewToolStateSchema = Type.Union([
  Type.Object({ status: Type.Literal("pending"), input: Type.Unknown(), ...toolTime }),
  Type.Object({ status: Type.Literal("running"), input: Type.Unknown(), output: Text, ...toolTime }),
  Type.Object({
    status: Type.Literal("completed"),
    input: Type.Unknown(),
    output: Text,
    metadata: optional(Type.Unknown()),
    diff: optional(Text),
    ...toolTime,
  }),
  Type.Object({ status: Type.Literal("error"), input: Type.Unknown(), error: Text, ...toolTime }),
]);
export type MewToolState = Static<typeof MewToolStateSchema>;

const partIdentity = { id: Ulid, message_id: Ulid, session_id: Ulid };
export const MewPartSchema = Type.Union([
  Type.Object({ type: Type.Literal("text"), ...partIdentity, text: Text }),
  Type.Object({ type: Type.Literal("reasoning"), ...partIdentity, text: Text }),
  Type.Object({
    type: Type.Literal("file"),
    ...partIdentity,
    mime: Text,
    url: Text,
    filename: optional(Text),
  }),
  Type.Object({
    type: Type.Literal("tool_call"),
    ...partIdentity,
    tool_name: Text,
    call_id: Text,
    state: MewToolStateSchema,
  }),
  Type.Object({
    type: Type.Literal("compaction"),
    ...partIdentity,
    auto: Type.Boolean(),
    overflow: Type.Boolean(),
    summary: optional(Text),
  }),
]);
export type MewPart = Static<typeof MewPartSchema>;
export type MewPartOf<T extends MewPart["type"]> = Extract<MewPart, { type: T }>;

export const MewTokensSchema = Type.Object({
  input: Count,
  output: Count,
  reasoning: Count,
  cache_read: Count,
  cache_write: Count,
});
export type MewTokens = Static<typeof MewTokensSchema>;

export const MewMessageSchema = Type.Object({
  id: Ulid,
  session_id: Ulid,
  role: oneOf("user", "assistant", "system"),
  parts: list(MewPartSchema),
  time: Type.Object({ created: Ms, completed: optional(Ms) }),
  assistant: optional(
    Type.Object({
      provider_id: Text,
      model_id: Text,
      cost: Type.Number(),
      tokens: MewTokensSchema,
      finish: optional(MewFinishSchema),
      error: optional(Type.Object({ kind: Text, message: Text })),
    }),
  ),
});
/** One message of a session's history. */
export type MewMessage = Static<typeof MewMessageSchema>;

/** What `provider` carries; its tag follows the connection's spelling like the message's own. */
export const mewProviderEventSchemas = {
  part_start: Type.Object({ type: Type.Literal("part_start"), part: MewPartSchema }),
  part_delta: Type.Object({
    type: Type.Literal("part_delta"),
    part_id: Ulid,
    field: Text,
    delta: Text,
  }),
  part_end: Type.Object({ type: Type.Literal("part_end"), part_id: Ulid }),
  message_end: Type.Object({
    type: Type.Literal("message_end"),
    finish: MewFinishSchema,
    usage: MewTokensSchema,
    cost: Type.Number(),
  }),
};
export type MewProviderEvent = {
  [T in keyof typeof mewProviderEventSchemas]: Static<(typeof mewProviderEventSchemas)[T]>;
}[keyof typeof mewProviderEventSchemas];
export const MewProviderEventSchema = Type.Unsafe<MewProviderEvent>(
  Type.Union(Object.values(mewProviderEventSchemas) as TSchema[]),
);

/** Null where the seed says so (`null` = disabled). */
export const MewVariantSchema = nullable(Text);

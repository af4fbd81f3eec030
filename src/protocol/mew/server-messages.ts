import { type Static, type TSchema, Type } from "typebox";
import {
  MewAlertKindSchema,
  MewClientKindSchema,
  MewDirEntrySchema,
  MewJobStateSchema,
  MewMessageSchema,
  MewModelInfoSchema,
  MewOutcomeSchema,
  MewPartSchema,
  MewProjectInfoSchema,
  MewProviderEventSchema,
  MewQuestionSchema,
  MewReceiptStatusSchema,
  MewSessionInfoSchema,
  MewSessionStateSchema,
  MewTodoSchema,
  MewUsageSchema,
  MewVariantSchema,
} from "./values.ts";

/** What a mew client is sent, by its snake_case tag. Optional fields are absent when unknown. */
const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);
const list = <T extends TSchema>(schema: T) => Type.Unsafe<readonly Static<T>[]>(Type.Array(schema));
const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });
const session = { session_id: Text };
const request = { request_id: Text };
const job = { ...session, job_id: Text, ...request };

/** The messages of the dialect's document: all that a connection in its spelling is ever sent. */
export const mewSeedSchemas = {
  session_ready: Type.Object({
    type: Type.Literal("session_ready"),
    ...session,
    model: optional(Text),
    provider: optional(Text),
    cwd: optional(Text),
    permission_mode: optional(Text),
  }),
  session_history: Type.Object({ type: Type.Literal("session_history"), messages: list(MewMessageSchema) }),
  session_list: Type.Object({ type: Type.Literal("session_list"), sessions: list(MewSessionInfoSchema) }),
  session_cleared: Type.Object({ type: Type.Literal("session_cleared") }),
  session_title_changed: Type.Object({
    type: Type.Literal("session_title_changed"),
    ...session,
    title: Text,
  }),
  provider: Type.Object({ type: Type.Literal("provider"), event: MewProviderEventSchema }),
  tool_start: Type.Object({ type: Type.Literal("tool_start"), call_id: Text }),
  tool_end: Type.Object({ type: Type.Literal("tool_end"), call_id: Text, success: Type.Boolean() }),
  tool_progress: Type.Object({ type: Type.Literal("tool_progress"), call_id: Text, chunk: Text }),
  part_updated: Type.Object({ type: Type.Literal("part_updated"), part_id: Text, part: MewPartSchema }),
  permission_request: Type.Object({
    type: Type.Literal("permission_request"),
    ...request,
    tool_name: Text,
    input: Type.Unknown(),
  }),
  ask_user_request: Type.Object({
    type: Type.Literal("ask_user_request"),
    ...request,
    call_id: Text,
    questions: list(MewQuestionSchema),
    /** Name of the subagent that asks; absent for the main agent. */
    subagent: optional(Text),
  }),
  request_resolved: Type.Object({ type: Type.Literal("request_resolved"), ...request }),
  job_output: Type.Object({
    type: Type.Literal("job_output"),
    ...job,
    offset: Count,
    next_offset: Count,
    output: Text,
    done: Type.Boolean(),
    incomplete: Type.Boolean(),
  }),
  job_output_error: Type.Object({ type: Type.Literal("job_output_error"), ...job, message: Text }),
  subagent_start: Type.Object({
    type: Type.Literal("subagent_start"),
    parent_call_id: Text,
    name: Text,
    child_session_id: Text,
    display_name: Type.Union([Text, Type.Null()]),
  }),
  subagent_status: Type.Object({
    type: Type.Literal("subagent_status"),
    parent_call_id: Text,
    tool_name: Text,
    message: Text,
  }),
  subagent_end: Type.Object({
    type: Type.Literal("subagent_end"),
    parent_call_id: Text,
    child_session_id: Text,
    outcome: MewOutcomeSchema,
    manifests: list(Type.Unknown()),
  }),
  model_list: Type.Object({ type: Type.Literal("model_list"), models: list(MewModelInfoSchema) }),
  model_switched: Type.Object({ type: Type.Literal("model_switched"), provider: Text, model: Text }),
  thinking_variant_changed: Type.Object({
    type: Type.Literal("thinking_variant_changed"),
    /** Null: thinking is off. */
    variant: MewVariantSchema,
  }),
  todos_updated: Type.Object({ type: Type.Literal("todos_updated"), todos: list(MewTodoSchema) }),
  job_update: Type.Object({
    type: Type.Literal("job_update"),
    job_id: Text,
    command: Text,
    state: MewJobStateSchema,
  }),
  slash_result: Type.Object({ type: Type.Literal("slash_result"), text: Text }),
  error: Type.Object({ type: Type.Literal("error"), message: Text }),
  error_event: Type.Object({ type: Type.Literal("error_event"), message: Text }),
  pong: Type.Object({ type: Type.Literal("pong"), version: Text, protocol_version: Type.Literal(3) }),
  prompt_receipt: Type.Object({
    type: Type.Literal("prompt_receipt"),
    ...session,
    ...request,
    status: MewReceiptStatusSchema,
    message: optional(Text),
  }),
  project_list: Type.Object({ type: Type.Literal("project_list"), projects: list(MewProjectInfoSchema) }),
};

/** What real clients know beyond the document: sent in snake_case only. */
export const mewSnakeSchemas = {
  user_message: Type.Object({ type: Type.Literal("user_message"), text: Text }),
  session_history_page: Type.Object({
    type: Type.Literal("session_history_page"),
    ...session,
    messages: list(MewMessageSchema),
    /** Pass as `before` for the page before this one; absent at the beginning. */
    next_cursor: optional(Count),
    replace: Type.Boolean(),
  }),
  subagent_permission_request: Type.Object({
    type: Type.Literal("subagent_permission_request"),
    ...request,
    parent_call_id: Text,
    tool_name: Text,
    input: Type.Unknown(),
  }),
  permission_mode_changed: Type.Object({ type: Type.Literal("permission_mode_changed"), mode: Text }),
  client_attached: Type.Object({
    type: Type.Literal("client_attached"),
    client_id: Count,
    client_kind: MewClientKindSchema,
  }),
  client_detached: Type.Object({ type: Type.Literal("client_detached"), client_id: Count }),
  control_yielded: Type.Object({ type: Type.Literal("control_yielded"), client_id: Count }),
  session_activity_changed: Type.Object({
    type: Type.Literal("session_activity_changed"),
    ...session,
    activity: MewSessionStateSchema,
  }),
  session_alert: Type.Object({
    type: Type.Literal("session_alert"),
    ...session,
    title: Text,
    kind: MewAlertKindSchema,
    detail: optional(Text),
  }),
  session_attention_changed: Type.Object({
    type: Type.Literal("session_attention_changed"),
    ...session,
    pending_permissions: Count,
    pending_questions: Count,
  }),
  session_usage_changed: Type.Object({
    type: Type.Literal("session_usage_changed"),
    ...session,
    usage: MewUsageSchema,
    context_tokens: optional(Count),
  }),
  session_meta_changed: Type.Object({
    type: Type.Literal("session_meta_changed"),
    ...session,
    archived: Type.Boolean(),
    pinned: Type.Boolean(),
  }),
  /** Always empty: there are no groups and no personas. */
  group_list: Type.Object({ type: Type.Literal("group_list"), groups: list(Type.Unknown()) }),
  persona_list: Type.Object({ type: Type.Literal("persona_list"), personas: list(Type.Unknown()) }),
  dir_listing: Type.Object({
    type: Type.Literal("dir_listing"),
    ...session,
    path: Text,
    entries: list(MewDirEntrySchema),
  }),
  filesystem_dir_listing: Type.Object({
    type: Type.Literal("filesystem_dir_listing"),
    path: Text,
    entries: list(MewDirEntrySchema),
  }),
  file_preview: Type.Object({
    type: Type.Literal("file_preview"),
    path: Text,
    content: Text,
    truncated: Type.Boolean(),
    language: optional(Text),
  }),
};

export const mewServerSchemas = { ...mewSeedSchemas, ...mewSnakeSchemas };
export type MewServerType = keyof typeof mewServerSchemas;
export type MewServerMessageOf<T extends MewServerType> = Readonly<Static<(typeof mewServerSchemas)[T]>>;
export type MewServerMessage = { [T in MewServerType]: MewServerMessageOf<T> }[MewServerType];

/** True for a message that a connection in the spelling may be sent. */
export function isSentIn(type: MewServerType, spelling: "camel" | "snake"): boolean {
  return spelling === "snake" || Object.hasOwn(mewSeedSchemas, type);
}

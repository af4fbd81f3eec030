import { type Static, Type } from "typebox";
import { limits } from "../limits.ts";
import { MewClientKindSchema, MewDecisionSchema } from "./values.ts";

/**
 * What a mew client sends, by its snake_case tag, as it is after decoding: defaults filled in, absent instead of null.
 * Ids are as the client wrote them; `readUuid` of ids.ts makes the engine's of them.
 */
const SessionId = Type.String({ minLength: 1, maxLength: 64 });
const RequestId = Type.String({ minLength: 1, maxLength: limits.requestIdChars });
const Path = Type.String({ maxLength: limits.pathBytes });
const Word = Type.String({ maxLength: limits.modelChars });
const optionalPath = { path: Type.Optional(Path) };
const prompt = {
  text: Type.String({ maxLength: limits.promptChars }),
  attachments: Type.Array(
    Type.Object({
      path: Type.String({ minLength: 1, maxLength: limits.pathBytes }),
      mime: Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Null()])),
    }),
    { maxItems: limits.attachments },
  ),
};

export const mewClientSchemas = {
  new_session: Type.Object({
    type: Type.Literal("new_session"),
    cwd: Type.Optional(Path),
    client_kind: MewClientKindSchema,
  }),
  attach_session: Type.Object({
    type: Type.Literal("attach_session"),
    session_id: SessionId,
    client_kind: MewClientKindSchema,
  }),
  list_sessions: Type.Object({ type: Type.Literal("list_sessions") }),
  prompt: Type.Object({ type: Type.Literal("prompt"), ...prompt }),
  submit_prompt: Type.Object({
    type: Type.Literal("submit_prompt"),
    session_id: SessionId,
    request_id: RequestId,
    ...prompt,
  }),
  read_prompt_receipt: Type.Object({
    type: Type.Literal("read_prompt_receipt"),
    session_id: SessionId,
    request_id: RequestId,
  }),
  read_job_output: Type.Object({
    type: Type.Literal("read_job_output"),
    session_id: SessionId,
    job_id: Type.String({ minLength: 1, maxLength: 64 }),
    request_id: RequestId,
    /** Any whole number: one that the log does not have is answered with `job_output_error`. */
    offset: Type.Integer(),
  }),
  cancel: Type.Object({ type: Type.Literal("cancel") }),
  permission_response: Type.Object({
    type: Type.Literal("permission_response"),
    request_id: RequestId,
    decision: MewDecisionSchema,
  }),
  ask_user_response: Type.Object({
    type: Type.Literal("ask_user_response"),
    request_id: RequestId,
    answers: Type.Array(Type.String({ maxLength: limits.answerChars }), { maxItems: limits.answers }),
    cancelled: Type.Boolean(),
  }),
  slash_command: Type.Object({
    type: Type.Literal("slash_command"),
    command: Type.String({ maxLength: limits.promptChars }),
  }),
  list_models: Type.Object({ type: Type.Literal("list_models") }),
  switch_model: Type.Object({ type: Type.Literal("switch_model"), provider: Word, model: Word }),
  set_thinking_variant: Type.Object({ type: Type.Literal("set_thinking_variant"), variant: Word }),
  ping: Type.Object({ type: Type.Literal("ping") }),
  list_projects: Type.Object({ type: Type.Literal("list_projects") }),
  regenerate_title: Type.Object({ type: Type.Literal("regenerate_title"), session_id: SessionId }),

  // Below: what real clients send beyond the document.
  load_session_history: Type.Object({
    type: Type.Literal("load_session_history"),
    session_id: SessionId,
    before: Type.Integer({ minimum: 0 }),
    limit: Type.Integer(),
  }),
  delete_session: Type.Object({ type: Type.Literal("delete_session"), session_id: SessionId }),
  rename_session: Type.Object({
    type: Type.Literal("rename_session"),
    session_id: SessionId,
    title: Type.String({ maxLength: 4 * limits.labelChars }),
  }),
  set_auto_title: Type.Object({ type: Type.Literal("set_auto_title"), enabled: Type.Boolean() }),
  set_auto_summary: Type.Object({ type: Type.Literal("set_auto_summary"), enabled: Type.Boolean() }),
  guide: Type.Object({ type: Type.Literal("guide"), text: Type.String({ maxLength: limits.promptChars }) }),
  set_permission_mode: Type.Object({ type: Type.Literal("set_permission_mode"), mode: Word }),
  yield_control: Type.Object({ type: Type.Literal("yield_control") }),
  archive_session: Type.Object({
    type: Type.Literal("archive_session"),
    session_id: SessionId,
    archived: Type.Boolean(),
  }),
  pin_session: Type.Object({
    type: Type.Literal("pin_session"),
    session_id: SessionId,
    pinned: Type.Boolean(),
  }),
  list_dir: Type.Object({ type: Type.Literal("list_dir"), session_id: SessionId, ...optionalPath }),
  list_filesystem_dir: Type.Object({ type: Type.Literal("list_filesystem_dir"), ...optionalPath }),
  read_file_preview: Type.Object({
    type: Type.Literal("read_file_preview"),
    session_id: SessionId,
    path: Path,
    max_bytes: Type.Integer({ minimum: 0 }),
  }),
  git_status: Type.Object({ type: Type.Literal("git_status"), session_id: SessionId }),
  watch_workspace: Type.Object({
    type: Type.Literal("watch_workspace"),
    session_id: SessionId,
    enabled: Type.Boolean(),
  }),
  pin_project: Type.Object({ type: Type.Literal("pin_project"), path: Path, pinned: Type.Boolean() }),
  list_personas: Type.Object({ type: Type.Literal("list_personas") }),
};

export type MewClientType = keyof typeof mewClientSchemas;
export type MewClientMessageOf<T extends MewClientType> = Readonly<Static<(typeof mewClientSchemas)[T]>>;
export type MewClientMessage = { [T in MewClientType]: MewClientMessageOf<T> }[MewClientType];

/** What a field is when the client leaves it out. */
export const mewClientDefaults: {
  readonly [T in MewClientType]?: Partial<MewClientMessageOf<T>>;
} = {
  new_session: { client_kind: "unknown" },
  attach_session: { client_kind: "unknown" },
  prompt: { attachments: [] },
  submit_prompt: { attachments: [] },
  ask_user_response: { answers: [], cancelled: false },
  load_session_history: { limit: 24 },
  read_file_preview: { max_bytes: 65_536 },
};

/** Known to real clients and not done here; each is answered with an error that says so. */
export const mewUnsupportedTypes: ReadonlySet<string> = new Set([
  "remote_hello",
  "new_session_in_group",
  "plan_approval_response",
  "goal_response",
  "create_group",
  "update_group",
  "delete_group",
  "assign_session_group",
  "open_path",
  "unflag_file",
  "switch_persona",
  "browser_open",
  "browser_snapshot",
  "browser_screenshot",
  "browser_click",
  "browser_fill",
  "browser_press",
  "browser_close",
  "terminal_open",
  "terminal_input",
  "terminal_resize",
  "terminal_close",
]);

import { type Static, Type } from "typebox";
import { AgentStateSchema, ModeSchema } from "./objects.ts";

/** Objects that only REST answers hold. The rules are those of the other objects: flat, snake_case, `null` for unknown. */
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Id = Type.String();
const Time = Type.String({ description: "RFC 3339, UTC, with milliseconds" });
const Count = Type.Integer({ minimum: 0 });

/** A saved session: a transcript, and what runs in it at the moment. */
export const SessionRowSchema = Type.Object({
  id: Id,
  title: nullable(Type.String()),
  label: nullable(Type.String()),
  /** First line of the first prompt. */
  prompt: nullable(Type.String()),
  cwd: nullable(Type.String()),
  runtime: nullable(Type.String()),
  model: nullable(Type.String()),
  parent: nullable(Id),
  started: nullable(Time),
  /** Time of the last record. */
  updated: Time,
  bytes: Count,
  /** `closed` for one that is on no tab. */
  state: AgentStateSchema,
  live: Type.Boolean(),
  workspace: nullable(Id),
  tab: nullable(Id),
  /** True when the transcript does not begin as every transcript does. */
  damaged: Type.Boolean(),
  /** Marked by a person, for lists to show first. */
  pinned: Type.Optional(Type.Boolean()),
  /** Put away by a person, for lists to leave out. */
  archived: Type.Optional(Type.Boolean()),
});
export type SessionRow = Static<typeof SessionRowSchema>;
export const SessionListSchema = Type.Object({
  sessions: Type.Array(SessionRowSchema),
  next: nullable(
    Type.String({ description: "pass it as `before` for the next page; null: this is the last" }),
  ),
});
export type SessionList = Static<typeof SessionListSchema>;

const totals = {
  input_tokens: Count,
  output_tokens: Count,
  cache_read_tokens: Count,
  cache_write_tokens: Count,
  cost: nullable(Type.Number({ description: "US dollars; null while no model named a cost" })),
};
export const UsageTotalsSchema = Type.Object(totals);
export type UsageTotals = Static<typeof UsageTotalsSchema>;
export const UsageSchema = Type.Object({
  days: Type.Integer({ minimum: 1 }),
  /** First and last day of the window, both in it. */
  from: Type.String(),
  to: Type.String(),
  /** Days begin at midnight in this zone. */
  time_zone: Type.Literal("UTC"),
  today: UsageTotalsSchema,
  /** The last seven days, with today. */
  week: UsageTotalsSchema,
  window: UsageTotalsSchema,
  per_model: Type.Array(Type.Object({ model: nullable(Type.String()), ...totals })),
  per_day: Type.Array(Type.Object({ day: Type.String(), ...totals })),
});
export type Usage = Static<typeof UsageSchema>;

export const FolderEntrySchema = Type.Object({
  name: Type.String(),
  path: Type.String(),
  kind: Type.Union([Type.Literal("folder"), Type.Literal("file")]),
  hidden: Type.Boolean(),
  link: Type.Boolean(),
  /** Branch of the repository whose root this folder is, or the beginning of its commit. */
  git: nullable(Type.String()),
  bytes: nullable(Count),
  modified: nullable(Time),
});
export type FolderEntry = Static<typeof FolderEntrySchema>;
export const FolderSchema = Type.Object({
  /** Real path of the folder that is listed. */
  path: Type.String(),
  /** Null at the root of what may be browsed. */
  parent: nullable(Type.String()),
  root: Type.String(),
  git: nullable(Type.String()),
  entries: Type.Array(FolderEntrySchema),
  next: nullable(
    Type.String({ description: "pass it as `after` for the next page; null: this is the last" }),
  ),
  /** True when the folder has more entries than are ever looked at. */
  truncated: Type.Boolean(),
});
export type Folder = Static<typeof FolderSchema>;

export const ToolKindSchema = Type.Union([
  Type.Literal("safe"),
  Type.Literal("edit"),
  Type.Literal("execute"),
]);
export const ToolSchema = Type.Object({
  name: Type.String(),
  /** Null: of the daemon, whatever the runtime. */
  runtime: nullable(Type.String()),
  /** `safe` never asks; `edit` asks in mode `ask`; `execute` asks in `ask` and `edits`. */
  kind: ToolKindSchema,
  description: Type.String(),
});
export type Tool = Static<typeof ToolSchema>;

export const ModelSchema = Type.Object({
  id: Type.String(),
  runtime: Type.String(),
  name: Type.String(),
  context_tokens: nullable(Count),
  /** The levels of thinking that it can be asked for, the least first; none when absent. */
  thinking: Type.Optional(Type.Array(Type.String())),
});
export type Model = Static<typeof ModelSchema>;

/** What can run agents here: the shell, and coding agents that are configured or were found. */
export const RuntimeSchema = Type.Object({
  /** What `agent_start` and `tab_create` take. */
  name: Type.String(),
  title: Type.String(),
  kind: Type.Union([
    Type.Literal("shell"),
    Type.Literal("replay"),
    Type.Literal("acp"),
    Type.Literal("model"),
  ]),
  /** `config`: named in the configuration; `path`: found among the programs of this machine. */
  source: Type.Union([Type.Literal("built_in"), Type.Literal("config"), Type.Literal("path")]),
  /** `found`: its program is there, and was not started yet; `failed`: it did not work the last time. */
  state: Type.Union([
    Type.Literal("ready"),
    Type.Literal("found"),
    Type.Literal("missing"),
    Type.Literal("failed"),
  ]),
  /** How it is, in a line. */
  message: Type.String(),
  /** What to do about it; null when nothing is to be done. */
  next: nullable(Type.String()),
  version: nullable(Type.String()),
  takes_model: Type.Boolean(),
  /** True for one that runs in trusted folders only. */
  needs_trust: Type.Boolean(),
});
export type RuntimeRow = Static<typeof RuntimeSchema>;

export const ModelListSchema = Type.Object({
  models: Type.Array(ModelSchema),
  default_model: nullable(Type.String()),
  runtimes: Type.Array(RuntimeSchema),
  /** What runs in a new tab, when nobody says. */
  default_runtime: Type.String(),
  /** How to get a coding agent; null where there is one. */
  add_agent: nullable(Type.String()),
});
export type ModelList = Static<typeof ModelListSchema>;

/** Notes that agents keep for later sessions. */
export const MemoryListSchema = Type.Object({
  /** False while no runtime keeps any: then there is nothing to read or write. */
  available: Type.Boolean(),
  memory: Type.Array(Type.Object({ name: Type.String(), bytes: Count, updated: Time })),
});

export const UpdateSchema = Type.Object({
  current: Type.String(),
  latest: nullable(Type.String()),
  checked: nullable(Time),
});

export const SettingSchema = Type.Object({
  /** As it is written in config.toml, dotted. */
  key: Type.String(),
  /** What the file says, or the default. Null for a secret. */
  value: Type.Unknown(),
  default: Type.Unknown(),
  source: Type.Union([Type.Literal("file"), Type.Literal("default")]),
  description: nullable(Type.String()),
  /** A JSON schema of the value. */
  schema: Type.Unknown(),
  secret: Type.Boolean(),
  /** True when the file sets it. */
  present: Type.Boolean(),
  /** True when the caller may change it by `PATCH /api/settings`. */
  writable: Type.Boolean(),
  /** True when the running daemon goes by another value until it is stopped and started. */
  restart_needed: Type.Boolean(),
});
export type Setting = Static<typeof SettingSchema>;

/** What the next prompt of a tab's active agent goes into. */
export const ContextReportSchema = Type.Object({
  tab: Id,
  cwd: Type.String(),
  trusted: Type.Boolean(),
  mode: ModeSchema,
  runtime: Type.String(),
  agent: nullable(Id),
  model: nullable(Type.String()),
  /** Tokens in the conversation, as the model's last answer counted them. */
  context_tokens: nullable(Count),
});
export type ContextReport = Static<typeof ContextReportSchema>;
export const SettingsSchema = Type.Object({
  /** Where the file is. */
  path: Type.String(),
  settings: Type.Array(SettingSchema),
  /** What is wrong with the file at the moment; the daemon goes on with what it had. */
  problem: nullable(Type.String()),
  context: nullable(ContextReportSchema),
});
export type Settings = Static<typeof SettingsSchema>;

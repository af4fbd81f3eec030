import type { AgentEvent } from "../../src/protocol/events.ts";
import type { By, Decision, Question } from "../../src/protocol/objects.ts";

type EventOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: T }>;

/** How a permission request about a call ended. */
export interface PermissionOutcome {
  readonly request_id: string;
  /** Null while it waits. */
  readonly allowed: boolean | null;
  readonly decision: Decision | null;
  readonly by: By | null;
}

export interface ToolResult {
  readonly output: string;
  readonly isError: boolean;
  readonly millis: number;
  readonly exitCode: number | null;
  readonly diff: { readonly path: string; readonly patch: string } | null;
  readonly job: string | null;
}

/** Tokens and cost of a turn, summed up. */
export interface TurnUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null where no model named one. */
  readonly cost: number | null;
  readonly contextTokens: number | null;
}

interface RowOf<K extends string> {
  readonly kind: K;
  /** Never changes, also when older history is loaded. */
  readonly key: string;
  readonly at: string;
}
export interface StartRow extends RowOf<"start"> {
  readonly event: EventOf<"agent_started">;
}
export interface UserRow extends RowOf<"user"> {
  readonly text: string;
  readonly attachments: readonly { readonly name: string; readonly kind: string }[];
  readonly by: By;
}
export interface AssistantRow extends RowOf<"assistant"> {
  readonly text: string;
  readonly thinking: string;
  /** True while it is being said. */
  readonly isOpen: boolean;
}
export interface ToolRow extends RowOf<"tool"> {
  readonly callId: string;
  readonly tool: string;
  readonly summary: string;
  readonly input: unknown;
  /** Output of a call that goes on. */
  readonly outputSoFar: string;
  readonly result: ToolResult | null;
  readonly permission: PermissionOutcome | null;
  /** When it began to wait for a person, as long as it does. */
  readonly askedAt: string | null;
  /** How long it waited for a person, in all. */
  readonly waitedMillis: number;
}
/** The outcome of a request whose call is not known here. */
export interface PermissionRow extends RowOf<"permission"> {
  readonly summary: string;
  readonly outcome: PermissionOutcome;
}
export interface QuestionRow extends RowOf<"question"> {
  readonly requestId: string;
  readonly questions: Question["questions"];
  readonly state: "open" | "answered" | "cancelled";
  readonly answers: readonly string[];
  readonly by: By | null;
}
/** One for each turn; always the whole list as it was last told in it. */
export interface TodosRow extends RowOf<"todos"> {
  readonly todos: EventOf<"todos">["todos"];
}
export interface NoticeRow extends RowOf<"notice"> {
  readonly message: string;
}
export interface ErrorRow extends RowOf<"error"> {
  readonly code: string;
  readonly message: string;
}
export interface ModelRow extends RowOf<"model"> {
  readonly model: string | null;
}
export interface ThinkingRow extends RowOf<"thinking"> {
  /** Null: as the model does by itself. */
  readonly level: string | null;
}
export type ClearedRow = RowOf<"cleared">;
export interface CompactedRow extends RowOf<"compacted"> {
  readonly summary: string;
}
export interface TurnRow extends RowOf<"turn"> {
  readonly outcome: "done" | "cancelled" | "failed";
  readonly error: string | null;
  readonly usage: TurnUsage | null;
  /** Null when the turn's begin is not known here. */
  readonly millis: number | null;
  /** How much of it went by while a person was waited for. */
  readonly waitedMillis: number;
}
export interface EndRow extends RowOf<"end"> {
  readonly outcome: string;
}

/** What a conversation shows, from top to bottom. */
export type Row =
  | StartRow
  | UserRow
  | AssistantRow
  | ToolRow
  | PermissionRow
  | QuestionRow
  | TodosRow
  | NoticeRow
  | ErrorRow
  | ModelRow
  | ThinkingRow
  | ClearedRow
  | CompactedRow
  | TurnRow
  | EndRow;

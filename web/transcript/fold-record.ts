import type { AgentEvent } from "../../src/protocol/events.ts";
import { callKey, type Draft } from "./draft.ts";
import type { PermissionOutcome, Row, ToolRow, TurnUsage } from "./rows.ts";
import { millisBetween, noTurn, withWait } from "./waits.ts";

type RecordOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: T }>;

/** Takes one record of the transcript into the draft. A type that is not known shows nothing. */
export function foldRecord(draft: Draft, event: AgentEvent): void {
  const key = `${event.type} ${event.seq}`;
  const { at } = event;
  switch (event.type) {
    case "agent_started":
      draft.rows.push({ kind: "start", key, at, event });
      return;
    case "turn_started":
      endOpenParts(draft);
      draft.turn = { ...noTurn, id: event.turn, at };
      return;
    case "user_message":
      draft.rows.push({
        kind: "user",
        key,
        at,
        text: event.text,
        attachments: event.attachments,
        by: event.by,
      });
      return;
    case "assistant_message":
      foldMessage(draft, event);
      return;
    case "tool_started":
      draft.preparing = null;
      draft.places.set(callKey(event.call_id), draft.rows.length);
      draft.rows.push({ ...callOf(event), input: event.input, summary: event.summary });
      return;
    case "tool_finished":
      foldToolEnd(draft, event);
      return;
    case "permission_requested":
    case "permission_resolved":
      draft.turn = withWait(draft.turn, event.type === "permission_requested", at);
      foldPermission(draft, event);
      return;
    case "question_asked":
    case "question_resolved":
      draft.turn = withWait(draft.turn, event.type === "question_asked", at);
      foldQuestion(draft, event);
      return;
    case "todos":
      putRow(draft, "todos", { kind: "todos", key, at, todos: event.todos });
      return;
    case "usage":
      foldUsage(draft, event);
      return;
    case "model_changed":
      draft.rows.push({ kind: "model", key, at, model: event.model });
      return;
    case "thinking_changed":
      draft.rows.push({ kind: "thinking", key, at, level: event.thinking });
      return;
    case "cleared":
      draft.contextTokens = null;
      draft.rows.push({ kind: "cleared", key, at });
      return;
    case "title":
      draft.title = event.title;
      return;
    case "compacted":
      draft.contextTokens = null;
      draft.rows.push({ kind: "compacted", key, at, summary: event.summary });
      return;
    case "notice":
      draft.rows.push({ kind: "notice", key, at, message: event.message });
      return;
    case "error":
      draft.rows.push({ kind: "error", key, at, code: event.code, message: event.message });
      return;
    case "turn_finished":
      foldTurnEnd(draft, event);
      return;
    case "agent_finished":
      draft.rows.push({ kind: "end", key, at, outcome: event.outcome });
      return;
    default:
  }
}

function foldMessage(draft: Draft, { message, at }: RecordOf<"assistant_message">): void {
  const { id, text, thinking = "" } = message;
  // Whichever message was open, the daemon forgets it here too.
  draft.open = null;
  draft.rows.push({ kind: "assistant", key: `message ${id}`, at, text, thinking, isOpen: false });
}

function callOf({ call_id, tool, at, seq }: RecordOf<"tool_started"> | RecordOf<"tool_finished">): ToolRow {
  return {
    kind: "tool",
    key: `call ${seq}`,
    at,
    callId: call_id,
    tool,
    summary: "",
    input: null,
    outputSoFar: "",
    result: null,
    permission: null,
    askedAt: null,
    waitedMillis: 0,
  };
}

function foldToolEnd(draft: Draft, event: RecordOf<"tool_finished">): void {
  const place = callKey(event.call_id);
  const row = rowAt(draft, place);
  draft.outputs.delete(event.call_id);
  const call = row?.kind === "tool" ? row : callOf(event);
  const result = {
    output: event.output,
    isError: event.is_error,
    millis: event.millis,
    exitCode: event.exit_code ?? null,
    diff: event.diff ?? null,
    job: event.job ?? null,
  };
  putRow(draft, place, { ...call, result });
  draft.places.delete(place);
}

function foldPermission(
  draft: Draft,
  event: RecordOf<"permission_requested"> | RecordOf<"permission_resolved">,
): void {
  const place = `request ${event.request_id}`;
  const known = rowAt(draft, place);
  if (event.type === "permission_requested") {
    const outcome = { request_id: event.request_id, allowed: null, decision: null, by: null };
    const call = event.call_id === null ? undefined : draft.places.get(callKey(event.call_id));
    if (call !== undefined) {
      draft.places.set(place, call);
      setOutcome(draft, place, outcome, event.at);
      return;
    }
    const key = `request ${event.request_id}`;
    putRow(draft, place, { kind: "permission", key, at: event.at, summary: event.summary, outcome });
    return;
  }
  const { request_id, allowed, decision, by } = event;
  const outcome = { request_id, allowed, decision, by };
  if (known === undefined) {
    const key = `request ${request_id}`;
    draft.rows.push({ kind: "permission", key, at: event.at, summary: "", outcome });
  } else setOutcome(draft, place, outcome, event.at);
  draft.places.delete(place);
}

function setOutcome(draft: Draft, place: string, outcome: PermissionOutcome, at: string): void {
  const row = rowAt(draft, place);
  if (row?.kind === "tool") {
    const waits = outcome.allowed === null;
    const waitedMillis = row.waitedMillis + (waits ? 0 : millisBetween(row.askedAt, at));
    putRow(draft, place, { ...row, permission: outcome, askedAt: waits ? at : null, waitedMillis });
  } else if (row?.kind === "permission") putRow(draft, place, { ...row, outcome });
}

function foldQuestion(draft: Draft, event: RecordOf<"question_asked"> | RecordOf<"question_resolved">): void {
  const place = `question ${event.request_id}`;
  const asked = rowAt(draft, place);
  const base =
    asked?.kind === "question"
      ? asked
      : {
          kind: "question" as const,
          key: place,
          at: event.at,
          requestId: event.request_id,
          questions: [],
          state: "open" as const,
          answers: [],
          by: null,
        };
  if (event.type === "question_asked") {
    putRow(draft, place, { ...base, questions: event.questions });
    return;
  }
  const state = event.cancelled || event.by === null ? "cancelled" : "answered";
  putRow(draft, place, { ...base, state, answers: event.answers ?? [], by: event.by });
  draft.places.delete(place);
}

function foldUsage(draft: Draft, event: RecordOf<"usage">): void {
  draft.contextTokens = event.context_tokens ?? draft.contextTokens;
  const turn = draft.turn ?? noTurn;
  draft.turn = { ...turn, usage: sum(turn.usage, event) };
}

function sum(before: TurnUsage | null, event: RecordOf<"usage">): TurnUsage {
  const cost = before?.cost ?? null;
  return {
    inputTokens: (before?.inputTokens ?? 0) + event.input_tokens,
    outputTokens: (before?.outputTokens ?? 0) + event.output_tokens,
    cost: event.cost === null ? cost : (cost ?? 0) + event.cost,
    contextTokens: event.context_tokens ?? before?.contextTokens ?? null,
  };
}

function foldTurnEnd(draft: Draft, event: RecordOf<"turn_finished">): void {
  // Ends what still waits.
  while (draft.turn !== null && draft.turn.open > 0) draft.turn = withWait(draft.turn, false, event.at);
  const { turn } = draft;
  const startedMs = turn?.at == null ? Number.NaN : Date.parse(turn.at);
  const millis = Date.parse(event.at) - startedMs;
  endOpenParts(draft);
  draft.turn = null;
  draft.rows.push({
    kind: "turn",
    key: `turn ${event.seq}`,
    at: event.at,
    outcome: event.outcome,
    error: event.error ?? null,
    usage: turn?.usage ?? null,
    millis: Number.isFinite(millis) && millis >= 0 ? millis : null,
    waitedMillis: turn?.waitedMillis ?? 0,
  });
}

/** A turn's end, or the begin of another, ends all that was said and asked in it. */
function endOpenParts(draft: Draft): void {
  draft.open = null;
  draft.preparing = null;
  draft.outputs.clear();
  draft.places.clear();
}

function rowAt(draft: Draft, place: string): Row | undefined {
  const index = draft.places.get(place);
  return index === undefined ? undefined : draft.rows[index];
}

/** Replaces the row of this place where it stands, or adds it at the end. The key stays that of the first. */
function putRow(draft: Draft, place: string, row: Row): void {
  const index = draft.places.get(place);
  const known = index === undefined ? undefined : draft.rows[index];
  if (index !== undefined && known !== undefined) {
    draft.rows[index] = { ...row, key: known.key, at: known.at };
    return;
  }
  draft.places.set(place, draft.rows.length);
  draft.rows.push(row);
}

import type { AgentEvent } from "../../../protocol/events.ts";
import { ulidOf } from "../../../protocol/mew/ids.ts";
import type { MewPartOf, MewTokens, MewToolState } from "../../../protocol/mew/values.ts";
import { derivedId } from "./ids.ts";

export type EventOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: T }>;

/** A call that has begun; its end may need what was known then. */
export interface StartedCall {
  readonly partId: string;
  readonly messageId: string;
  readonly tool: string;
  readonly callId: string;
  readonly input: unknown;
  readonly startMs: number;
}

export const noTokens: MewTokens = { input: 0, output: 0, reasoning: 0, cache_read: 0, cache_write: 0 };

export function timeOf(event: { readonly at: string }): number {
  const ms = Date.parse(event.at);
  return Number.isFinite(ms) ? ms : 0;
}

/** Text or thinking of a message. */
export function spokenPart(
  kind: "text" | "reasoning",
  agent: string,
  message: { readonly id: string; readonly rawId: string },
  text: string,
): MewPartOf<"text"> | MewPartOf<"reasoning"> {
  return {
    type: kind,
    id: derivedId(kind, agent, message.rawId),
    message_id: message.id,
    session_id: ulidOf(agent),
    text,
  };
}

/** @param messageId the message that it belongs to; null: the call is a message of its own */
export function startedCall(
  agent: string,
  event: EventOf<"tool_started">,
  messageId: string | null,
): StartedCall {
  const of = `${event.call_id} ${event.seq}`;
  return {
    partId: derivedId("call", agent, of, event.call_id),
    messageId: messageId ?? derivedId("message", agent, of, event.call_id),
    tool: event.tool,
    callId: event.call_id,
    input: event.input,
    startMs: timeOf(event),
  };
}

/** Of a call whose beginning is not known: it is on another page, or was lost. */
export function unseenCall(agent: string, event: EventOf<"tool_finished">): StartedCall {
  const of = `${event.call_id} ${event.seq}`;
  return {
    partId: derivedId("call", agent, of, event.call_id),
    messageId: derivedId("message", agent, of, event.call_id),
    tool: event.tool,
    callId: event.call_id,
    input: null,
    startMs: Math.max(0, timeOf(event) - event.millis),
  };
}

export function callPart(agent: string, call: StartedCall, state: MewToolState): MewPartOf<"tool_call"> {
  return {
    type: "tool_call",
    id: call.partId,
    message_id: call.messageId,
    session_id: ulidOf(agent),
    tool_name: call.tool,
    call_id: call.callId,
    state,
  };
}

export function pendingState(call: StartedCall): MewToolState {
  return { status: "pending", input: call.input, time: { start: call.startMs } };
}

export function runningState(call: StartedCall, output: string): MewToolState {
  return { status: "running", input: call.input, output, time: { start: call.startMs } };
}

export function errorState(call: StartedCall, error: string, endMs: number): MewToolState {
  return { status: "error", input: call.input, error, time: { start: call.startMs, end: endMs } };
}

export function finishedState(call: StartedCall, event: EventOf<"tool_finished">): MewToolState {
  const endMs = timeOf(event);
  const { exit_code, job } = event;
  if (event.is_error) return errorState(call, event.output || failureText(exit_code), endMs);
  const metadata = {
    ...(exit_code === undefined || exit_code === null ? {} : { exit_code }),
    ...(job === undefined ? {} : { job }),
  };
  return {
    status: "completed",
    input: call.input,
    output: event.output,
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(event.diff === undefined ? {} : { diff: event.diff.patch }),
    time: { start: call.startMs, end: endMs },
  };
}

/** For a call that failed without a word. */
function failureText(exitCode: number | null | undefined): string {
  return typeof exitCode === "number"
    ? `It ended with the exit code ${exitCode}, and printed nothing.`
    : "It failed, and said nothing.";
}

export function compactionPart(
  agent: string,
  event: EventOf<"compacted">,
  messageId: string,
): MewPartOf<"compaction"> {
  return {
    type: "compaction",
    id: derivedId("compaction", agent, String(event.seq)),
    message_id: messageId,
    session_id: ulidOf(agent),
    auto: false,
    overflow: false,
    summary: event.summary,
  };
}

/** What an attachment's name tells; its content is not in the history. */
export function filePart(
  agent: string,
  turn: string,
  messageId: string,
  file: { readonly name: string; readonly kind: string },
  at: number,
): MewPartOf<"file"> {
  return {
    type: "file",
    id: derivedId("file", agent, `${turn} ${at}`, turn),
    message_id: messageId,
    session_id: ulidOf(agent),
    mime: file.kind === "image" ? "image/*" : "",
    url: file.name,
    filename: file.name.slice(file.name.lastIndexOf("/") + 1),
  };
}

export function addTokens(to: MewTokens, event: EventOf<"usage">): MewTokens {
  return {
    input: to.input + event.input_tokens,
    output: to.output + event.output_tokens,
    reasoning: to.reasoning,
    cache_read: to.cache_read + event.cache_read_tokens,
    cache_write: to.cache_write + event.cache_write_tokens,
  };
}

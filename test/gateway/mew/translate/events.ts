import type { Change } from "../../../../src/protocol/changes.ts";
import type { AgentEvent, AgentEventBody } from "../../../../src/protocol/events.ts";

export const agent = "0199388f-0000-7000-8000-000000000001";
export const child = "0199388f-0000-7000-8000-0000000000c1";
export const tab = "0199388f-0000-7000-8000-0000000000a1";
export const turn = "0199388f-0000-7000-8000-0000000000b1";
export const by = { device: null, name: "local" };

export const messageId = (at: number): string =>
  `0199388f-0000-7000-8000-${at.toString(16).padStart(12, "0")}`;

/** Gives events their envelope: a `seq` and a second of their own, in their order. */
export function envelopes(bodies: readonly AgentEventBody[], of: string = agent, from = 1): AgentEvent[] {
  return bodies.map((body, index) => ({
    agent: of,
    seq: from + index,
    at: new Date(1_757_600_000_000 + 1_000 * (from + index)).toISOString(),
    ...body,
  }));
}

export function asChange(event: AgentEvent): Change {
  return { type: "event", rev: event.seq, workspace: null, tab, event };
}

export const started: AgentEventBody = { type: "turn_started", turn };
export const asked: AgentEventBody = { type: "user_message", turn, text: "do it", attachments: [], by };
export const done: AgentEventBody = { type: "turn_finished", turn, outcome: "done" };
export const text = (message: string, piece: string): AgentEventBody => ({
  type: "text_delta",
  message,
  text: piece,
});
export const thought = (message: string, piece: string): AgentEventBody => ({
  type: "thinking_delta",
  message,
  text: piece,
});
export const said = (id: string, whole: string, thinking?: string): AgentEventBody => ({
  type: "assistant_message",
  message: { id, text: whole, ...(thinking === undefined ? {} : { thinking }) },
});
export const call = (call_id: string, tool = "bash"): AgentEventBody => ({
  type: "tool_started",
  call_id,
  tool,
  summary: "ls",
  input: { command: "ls" },
});
export const output = (call_id: string, piece: string): AgentEventBody => ({
  type: "tool_output",
  call_id,
  text: piece,
});
export const ended = (call_id: string, whole: string, is_error = false): AgentEventBody => ({
  type: "tool_finished",
  call_id,
  tool: "bash",
  output: whole,
  is_error,
  millis: 5,
});
export const usage = (input_tokens: number, cost: number | null = null): AgentEventBody => ({
  type: "usage",
  input_tokens,
  output_tokens: 10,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  cost,
  context_tokens: null,
});

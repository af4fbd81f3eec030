import fc from "fast-check";
import { createStreaming } from "../../../src/engine/transcripts/streaming.ts";
import type { AgentEvent, AgentEventBody } from "../../../src/protocol/events.ts";
import { deltaTypes } from "../../../web/transcript/event-types.ts";
import type { TranscriptPage } from "../../../web/transcript/transcript-window.ts";

export const local = { device: null, name: "local" };

/** Numbers and dates events as the engine does. `seq` leaves gaps: other agents speak too. */
export function eventsOf(bodies: readonly AgentEventBody[], firstSeq = 1, step = 1): AgentEvent[] {
  return bodies.map((body, index) => ({
    agent: "a1",
    seq: firstSeq + index * step,
    at: new Date(Date.UTC(2026, 10, 30) + index * 1_000).toISOString(),
    ...body,
  }));
}

/** What the daemon would answer in the moment after `seq`, as its own code works it out. */
export function pageAt(
  events: readonly AgentEvent[],
  seq: number,
  options: { readonly before?: number; readonly limit: number },
): TranscriptPage {
  const past = events.filter((event) => event.seq <= seq);
  const streaming = createStreaming({ now: () => 0 });
  for (const event of past) streaming.take(event);
  const records = past.filter(({ type }) => !deltaTypes.has(type)).slice(0, options.before);
  const shown = records.slice(-options.limit);
  const before = records.length - shown.length;
  return {
    records: shown,
    before: before === 0 ? null : before,
    seq,
    streaming: options.before === undefined ? streaming.view() : null,
    damaged_records: 0,
  };
}

const step = fc.oneof(
  fc.record({ kind: fc.constant("say" as const), pieces: fc.array(fc.string(), { maxLength: 4 }) }),
  fc.record({ kind: fc.constant("think" as const), pieces: fc.array(fc.string(), { maxLength: 3 }) }),
  fc.record({
    kind: fc.constant("call" as const),
    pieces: fc.array(fc.string(), { maxLength: 4 }),
    asks: fc.constantFrom("no", "allow", "deny", "cancelled"),
    ends: fc.boolean(),
    id: fc.constantFrom("c1", "c2"),
  }),
  fc.record({ kind: fc.constant("ask" as const), answered: fc.boolean() }),
  fc.constantFrom(
    { kind: "todos" as const },
    { kind: "usage" as const },
    { kind: "notice" as const },
    { kind: "title" as const },
    { kind: "model" as const },
    { kind: "error" as const },
    { kind: "compacted" as const },
    { kind: "cleared" as const },
    { kind: "level" as const },
  ),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Turns as an engine announces them, each with any of what can be in one; the last may still be open. */
export const conversation: fc.Arbitrary<AgentEventBody[]> = fc
  .record({ turns: fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 4 }), isOpen: fc.boolean() })
  .map(({ turns, isOpen }) => {
    let count = 0;
    const id = (): string => `id${count++}`;
    const bodies: AgentEventBody[] = [
      { type: "agent_started", label: null, parent: null, runtime: "replay", model: null, cwd: "/srv" },
    ];
    turns.forEach((steps, index) => {
      const turn = id();
      bodies.push({ type: "turn_started", turn });
      bodies.push({ type: "user_message", turn, text: `prompt ${index}`, attachments: [], by: local });
      for (const each of steps) bodies.push(...bodiesOf(each, turn, id));
      if (index < turns.length - 1 || !isOpen) bodies.push({ type: "turn_finished", turn, outcome: "done" });
    });
    return bodies;
  });

function bodiesOf(step: Step, turn: string, id: () => string): AgentEventBody[] {
  switch (step.kind) {
    case "say":
    case "think": {
      const message = id();
      const type = step.kind === "say" ? ("text_delta" as const) : ("thinking_delta" as const);
      const text = step.pieces.join("");
      const whole = step.kind === "say" ? { text } : { text: "", thinking: text };
      return [
        ...step.pieces.map((piece) => ({ type, message, text: piece })),
        { type: "assistant_message", message: { id: message, ...whole } },
      ];
    }
    case "call":
      return callOf(step, turn, id);
    case "ask":
      return questionOf(step.answered, turn, id);
    case "todos":
      return [{ type: "todos", todos: [{ id: "1", content: id(), status: "pending" }] }];
    case "usage":
      return [
        {
          type: "usage",
          input_tokens: 5,
          output_tokens: 3,
          cache_read_tokens: 0,
          cache_write_tokens: 0,
          cost: 0.5,
          context_tokens: 8,
        },
      ];
    case "notice":
      return [{ type: "notice", message: id() }];
    case "title":
      return [{ type: "title", title: id() }];
    case "model":
      return [{ type: "model_changed", model: id() }];
    case "error":
      return [{ type: "error", code: "quota", message: id() }];
    case "cleared":
      return [{ type: "cleared" }];
    case "level":
      return [{ type: "thinking_changed", thinking: id() }];
    case "compacted":
      return [{ type: "compacted", summary: id() }];
  }
}

function callOf(
  { id: call_id, pieces, asks, ends }: Extract<Step, { kind: "call" }>,
  turn: string,
  id: () => string,
): AgentEventBody[] {
  const request_id = id();
  const base = { turn, call_id, tool: "bash", summary: "ls", input: { command: "ls" } };
  const place = { workspace: "w", tab: "t", agent: "a1", cwd: "/srv", at: "" };
  const started: AgentEventBody[] = [
    { type: "tool_call_streaming", tool: "bash" },
    { type: "tool_started", call_id, tool: "bash", summary: "ls", input: { command: "ls" } },
  ];
  const asked: AgentEventBody[] =
    asks === "no"
      ? []
      : [
          { type: "permission_requested", request_id, ...base, ...place, allow_session: null, digest: "d" },
          {
            type: "permission_resolved",
            request_id,
            allowed: asks === "allow",
            decision: asks === "cancelled" ? null : asks === "allow" ? "allow" : "deny",
            by: asks === "cancelled" ? null : local,
          },
        ];
  const output = pieces.map((text): AgentEventBody => ({ type: "tool_output", call_id, text }));
  const end: AgentEventBody = {
    type: "tool_finished",
    call_id,
    tool: "bash",
    output: pieces.join(""),
    is_error: false,
    millis: 5,
  };
  return [...started, ...asked, ...output, ...(ends ? [end] : [])];
}

function questionOf(answered: boolean, turn: string, id: () => string): AgentEventBody[] {
  const request_id = id();
  const questions = [{ prompt: "Which?", options: [], multiple: false }];
  const at = { request_id, workspace: "w", tab: "t", turn, call_id: null, subagent: null, questions };
  return [
    { type: "question_asked", agent: "a1", at: "", ...at },
    answered
      ? { type: "question_resolved", request_id, cancelled: false, by: local, answers: ["sqlite"] }
      : { type: "question_resolved", request_id, cancelled: true, by: null },
  ];
}

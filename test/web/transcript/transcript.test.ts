import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentEvent, AgentEventBody } from "../../../src/protocol/events.ts";
import type { Row } from "../../../web/transcript/rows.ts";
import {
  emptyTranscript,
  maxStreamingChars,
  shownRows,
  withEvents,
} from "../../../web/transcript/transcript.ts";
import { conversation, eventsOf, local } from "./script.ts";

const rowsOf = (events: readonly AgentEvent[]): readonly Row[] =>
  shownRows(withEvents(emptyTranscript, events));
const rowsAfter = (...bodies: AgentEventBody[]): readonly Row[] => rowsOf(eventsOf(bodies));
const started: AgentEventBody = { type: "turn_started", turn: "t1" };
const call: AgentEventBody = {
  type: "tool_started",
  call_id: "c1",
  tool: "bash",
  summary: "ls",
  input: { command: "ls" },
};
const requested: AgentEventBody = {
  type: "permission_requested",
  request_id: "r1",
  workspace: "w",
  tab: "t",
  agent: "a1",
  turn: "t1",
  call_id: "c1",
  tool: "bash",
  summary: "ls",
  input: { command: "ls" },
  cwd: "/srv",
  allow_session: null,
  digest: "d",
  at: "",
};

describe("the rows of a conversation", () => {
  it("shows a message while it is being said, and keeps its row when it is recorded", () => {
    const said: AgentEventBody[] = [
      { type: "thinking_delta", message: "m1", text: "hm" },
      { type: "text_delta", message: "m1", text: "Hel" },
      { type: "text_delta", message: "m1", text: "lo" },
    ];
    const open = rowsAfter(started, ...said);
    expect(open).toMatchObject([{ kind: "assistant", text: "Hello", thinking: "hm", isOpen: true }]);
    const whole = rowsAfter(started, ...said, {
      type: "assistant_message",
      message: { id: "m1", text: "Hello!", thinking: "hm" },
    });
    expect(whole).toMatchObject([{ text: "Hello!", isOpen: false, key: open[0]?.key }]);
  });

  it("gathers a call with its permission, its output and its end in one row", () => {
    expect(rowsAfter(started, call, requested)).toMatchObject([
      { kind: "tool", result: null, permission: { request_id: "r1", allowed: null } },
    ]);
    const resolved: AgentEventBody = {
      type: "permission_resolved",
      request_id: "r1",
      allowed: true,
      decision: "allow",
      by: local,
    };
    const output: AgentEventBody = { type: "tool_output", call_id: "c1", text: "a\n" };
    expect(rowsAfter(started, call, requested, resolved, output, output)).toMatchObject([
      { permission: { allowed: true, by: local }, outputSoFar: "a\na\n" },
    ]);
    const end: AgentEventBody = {
      type: "tool_finished",
      call_id: "c1",
      tool: "bash",
      output: "b\n",
      is_error: true,
      millis: 12,
      exit_code: 2,
    };
    expect(rowsAfter(started, call, requested, resolved, output, end)).toMatchObject([
      { outputSoFar: "", result: { output: "b\n", isError: true, millis: 12, exitCode: 2 } },
    ]);
  });

  it("counts for how long a call and its turn waited for a person, requests beside each other once", () => {
    const other: AgentEventBody = { ...call, call_id: "c2" };
    const otherRequest: AgentEventBody = { ...requested, request_id: "r2", call_id: "c2" };
    const resolved = (id: string): AgentEventBody => ({
      type: "permission_resolved",
      request_id: id,
      allowed: true,
      decision: "allow",
      by: local,
    });
    const end: AgentEventBody = { type: "turn_finished", turn: "t1", outcome: "done" };
    // One event a second: started 0, calls 1 and 2, asked at 3 and 4, answered at 5 and 6, the end at 7.
    const events = eventsOf([
      started,
      call,
      other,
      requested,
      otherRequest,
      resolved("r1"),
      resolved("r2"),
      end,
    ]).map((event, index) => ({
      ...event,
      at: new Date(Date.UTC(2026, 10, 30) + index * 1_000).toISOString(),
    }));
    expect(rowsOf(events)).toMatchObject([
      { callId: "c1", waitedMillis: 2_000, askedAt: null },
      { callId: "c2", waitedMillis: 2_000, askedAt: null },
      { kind: "turn", millis: 7_000, waitedMillis: 3_000 },
    ]);
  });

  it("does not confuse calls of different turns that carry the same id", () => {
    const end: AgentEventBody = {
      type: "tool_finished",
      call_id: "c1",
      tool: "bash",
      output: "",
      is_error: false,
      millis: 1,
    };
    const finished: AgentEventBody = { type: "turn_finished", turn: "t1", outcome: "done" };
    const tools = rowsAfter(started, call, end, finished, started, call).filter(
      ({ kind }) => kind === "tool",
    );
    expect(tools).toMatchObject([{ result: { millis: 1 } }, { result: null }]);
    expect(new Set(tools.map(({ key }) => key)).size).toBe(2);
  });

  it("shows one list of todos for each turn, in the place of the first", () => {
    const todos = (status: string): AgentEventBody => ({
      type: "todos",
      todos: [{ id: "1", content: "x", status }],
    });
    const finished: AgentEventBody = { type: "turn_finished", turn: "t1", outcome: "done" };
    const notice: AgentEventBody = { type: "notice", message: "n" };
    const rows = rowsAfter(
      started,
      todos("pending"),
      notice,
      todos("completed"),
      finished,
      started,
      todos("pending"),
    );
    expect(rows.map(({ kind }) => kind)).toEqual(["todos", "notice", "turn", "todos"]);
    expect(rows[0]).toMatchObject({ todos: [{ status: "completed" }] });
  });

  it("sums up what a turn used", () => {
    const usage: AgentEventBody = {
      type: "usage",
      input_tokens: 10,
      output_tokens: 2,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      cost: 0.25,
      context_tokens: 12,
    };
    const rows = rowsAfter(
      started,
      usage,
      { ...usage, cost: null },
      { type: "turn_finished", turn: "t1", outcome: "done" },
    );
    expect(rows).toMatchObject([
      {
        kind: "turn",
        millis: 3_000,
        usage: { inputTokens: 20, outputTokens: 4, cost: 0.25, contextTokens: 12 },
      },
    ]);
  });

  it("shows nothing of an event that it does not know", () => {
    const rows = rowsAfter(started, { type: "hologram" } as unknown as AgentEventBody);
    expect(rows).toEqual([]);
  });

  it("bounds what a message that never ends keeps in memory", () => {
    const piece: AgentEventBody = { type: "text_delta", message: "m1", text: "x".repeat(100_000) };
    const [row] = rowsAfter(started, ...new Array<AgentEventBody>(20).fill(piece));
    expect(row?.kind === "assistant" && row.text.length).toBe(maxStreamingChars);
  });

  it("takes each event once, however often and in whatever pieces it comes", () => {
    fc.assert(
      fc.property(conversation, fc.array(fc.nat({ max: 200 }), { maxLength: 6 }), (bodies, cuts) => {
        const events = eventsOf(bodies, 10, 3);
        let transcript = emptyTranscript;
        for (const cut of cuts.sort((a, b) => a - b)) {
          const end = Math.min(cut, events.length);
          transcript = withEvents(transcript, events.slice(Math.max(0, end - 5), end));
          if (transcript.seq < (events[end - 1]?.seq ?? 0)) throw new Error("events were left out");
          transcript = withEvents(emptyTranscript, events.slice(0, end));
        }
        expect(shownRows(withEvents(transcript, events))).toEqual(rowsOf(events));
      }),
    );
  });

  it("gives every row a key of its own", () => {
    fc.assert(
      fc.property(conversation, (bodies) => {
        const keys = rowsOf(eventsOf(bodies)).map(({ key }) => key);
        expect(new Set(keys).size).toBe(keys.length);
      }),
    );
  });

  it("modifies nothing of the transcript before", () => {
    fc.assert(
      fc.property(conversation, fc.nat({ max: 100 }), (bodies, cut) => {
        const events = eventsOf(bodies);
        const before = withEvents(emptyTranscript, events.slice(0, cut));
        const copy = structuredClone(before);
        withEvents(before, events);
        expect(before).toEqual(copy);
      }),
    );
  });
});

import { describe, expect, it } from "vitest";
import { createVoice } from "../../../../src/gateway/mew/translate/voice.ts";
import type { AgentEventBody } from "../../../../src/protocol/events.ts";
import type { MewServerMessage } from "../../../../src/protocol/mew/server-messages.ts";
import {
  agent,
  asked,
  call,
  done,
  ended,
  envelopes,
  messageId,
  output,
  said,
  started,
  text,
  thought,
  turn,
  usage,
} from "./events.ts";

const m1 = messageId(1);
const m2 = messageId(2);

function play(bodies: readonly AgentEventBody[]): MewServerMessage[] {
  const voice = createVoice(agent);
  return envelopes([started, ...bodies]).flatMap((event) => [...voice.take(event)]);
}

/** A message in a word: `+text`, `"Do"`, `-`, `end:stop`. */
function brief(message: MewServerMessage): string {
  switch (message.type) {
    case "provider": {
      const { event } = message;
      if (event.type === "part_start") return `+${event.part.type}`;
      if (event.type === "part_delta") return `"${event.delta}"`;
      return event.type === "message_end" ? `end:${event.finish}` : "-";
    }
    case "part_updated":
      return message.part.type === "tool_call"
        ? `call:${message.part.state.status}`
        : `=${"text" in message.part ? message.part.text : ""}`;
    case "tool_progress":
      return `>${message.chunk}`;
    case "tool_end":
      return `${message.type}:${message.success}`;
    case "error_event":
      return `!${message.message}`;
    default:
      return message.type;
  }
}

describe("the stream of a turn", () => {
  it.each<[string, AgentEventBody[], string]>([
    [
      "a streamed answer",
      [text(m1, "Do"), text(m1, "ne."), said(m1, "Done."), done],
      '+text "Do" "ne." - end:stop',
    ],
    ["an answer in one piece", [said(m1, "Done."), done], '+text "Done." - end:stop'],
    [
      "thinking before text",
      [thought(m1, "hm"), text(m1, "Ok"), said(m1, "Ok", "hm"), done],
      '+reasoning "hm" +text "Ok" - - end:stop',
    ],
    [
      "text of which the end was not streamed",
      [text(m1, "Do"), said(m1, "Done."), done],
      '+text "Do" "ne." - end:stop',
    ],
    [
      "text that was written otherwise than it was streamed",
      [text(m1, "Dxx"), said(m1, "Done."), done],
      '+text "Dxx" =Done. - end:stop',
    ],
    ["empty deltas and messages", [text(m1, ""), said(m1, ""), output("c", ""), done], "end:stop"],
    ["a turn that says nothing", [done], "end:stop"],
    [
      "a call that follows a message",
      [said(m1, "Look."), call("c1"), output("c1", "a\n"), ended("c1", "a\n"), done],
      '+text "Look." - +tool_call - end:tool_use call:running tool_start >a\n call:completed tool_end:true end:stop',
    ],
    [
      "a call alone, as the shell has it",
      [call("c1"), output("c1", "a"), ended("c1", "a"), done],
      "+tool_call - end:tool_use call:running tool_start >a call:completed tool_end:true end:stop",
    ],
    [
      "two calls after one message: the second is a message of its own",
      [said(m1, "x"), call("c1"), call("c2"), ended("c2", ""), ended("c1", "", true), done],
      '+text "x" - +tool_call - end:tool_use call:running tool_start +tool_call - end:tool_use call:running tool_start call:completed tool_end:true call:error tool_end:false end:stop',
    ],
    [
      "a call in the middle of a message",
      [text(m1, "a"), call("c1"), ended("c1", ""), text(m1, "b"), said(m1, "ab"), done],
      '+text "a" +tool_call - call:running tool_start call:completed tool_end:true "b" - end:stop',
    ],
    ["two messages", [said(m1, "a"), said(m2, "b"), done], '+text "a" - end:tool_use +text "b" - end:stop'],
    [
      "a message that another follows before it was written",
      [text(m1, "a"), text(m2, "b"), said(m2, "b"), done],
      '+text "a" - end:tool_use +text "b" - end:stop',
    ],
    [
      "a failure in the middle of a message",
      [text(m1, "a"), { type: "turn_finished", turn, outcome: "failed", error: "gone" }],
      '+text "a" - end:error !gone',
    ],
    [
      "a failure that was told as an error before",
      [
        { type: "error", code: "internal", message: "gone" },
        { type: "turn_finished", turn, outcome: "failed", error: "gone" },
      ],
      "!gone",
    ],
    ["a failure without words", [{ type: "turn_finished", turn, outcome: "failed" }], "!The turn failed."],
    [
      "a cancelled turn",
      [said(m1, "a"), { type: "turn_finished", turn, outcome: "cancelled" }],
      '+text "a" - end:error !The turn was cancelled.',
    ],
    ["a compaction", [{ type: "compacted", summary: "s" }, done], "+compaction - end:stop"],
    [
      "an end of a call that nobody saw begin",
      [ended("c9", "x"), done],
      "call:completed tool_end:true end:stop",
    ],
  ])("tells %s", (_, bodies, expected) => {
    expect(play(bodies).map(brief).join(" ")).toBe(expected);
  });

  it("counts the tokens into the message that they came with, once", () => {
    const ends = play([said(m1, "a"), usage(100, 0.5), call("c1"), ended("c1", ""), usage(7), done]).flatMap(
      (message) =>
        message.type === "provider" && message.event.type === "message_end"
          ? [[message.event.usage.input, message.event.usage.output, message.event.cost]]
          : [],
    );
    expect(ends).toEqual([
      [100, 10, 0.5],
      [7, 10, 0],
    ]);
  });

  it("keeps one id for a part from its beginning to its end", () => {
    const ids = play([text(m1, "a"), text(m1, "b"), said(m1, "ab")]).flatMap((message) => {
      if (message.type !== "provider") return [];
      const { event } = message;
      if (event.type === "part_start") return [event.part.id];
      return "part_id" in event ? [event.part_id] : [];
    });
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(1);
  });

  it("knows the input of a call at its end, and when it began", () => {
    const updates = play([
      call("c1"),
      { ...ended("c1", "out"), exit_code: 0, job: "3fa9c210" } as AgentEventBody,
    ]).flatMap((message) =>
      message.type === "part_updated" && message.part.type === "tool_call" ? [message.part.state] : [],
    );
    expect(updates).toEqual([
      { status: "running", input: { command: "ls" }, output: "", time: { start: 1_757_600_002_000 } },
      {
        status: "completed",
        input: { command: "ls" },
        output: "out",
        metadata: { exit_code: 0, job: "3fa9c210" },
        time: { start: 1_757_600_002_000, end: 1_757_600_003_000 },
      },
    ]);
  });

  it("begins a turn anew whatever the last one left open", () => {
    const voice = createVoice(agent);
    const first = envelopes([started, asked, text(m1, "a"), call("c1")]);
    for (const event of first) voice.take(event);
    const next = envelopes([started, said(m2, "b"), done], agent, 10).flatMap((event) => [
      ...voice.take(event),
    ]);
    expect(next.map(brief).join(" ")).toBe('+text "b" - end:stop');
  });
});

describe("a call that failed", () => {
  const errorOf = (end: Partial<Extract<AgentEventBody, { type: "tool_finished" }>>, whole = ""): unknown =>
    play([call("c1"), { ...ended("c1", whole, true), ...end } as AgentEventBody])
      .flatMap((message) => (message.type === "part_updated" ? [message.part] : []))
      .flatMap((part) => (part.type === "tool_call" ? [part.state] : []))
      .at(-1);

  it("says what it printed, else how it ended", () => {
    expect(errorOf({ exit_code: 2 }, "no such file")).toMatchObject({
      status: "error",
      error: "no such file",
    });
    expect(errorOf({ exit_code: 2 })).toMatchObject({ error: expect.stringMatching(/exit code 2/) });
    expect(errorOf({ exit_code: null })).toMatchObject({ error: expect.stringMatching(/failed/) });
    expect(errorOf({})).toMatchObject({ error: expect.stringMatching(/failed/) });
  });
});

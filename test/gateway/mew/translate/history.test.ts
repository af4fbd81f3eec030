import { Check } from "typebox/value";
import { describe, expect, it } from "vitest";
import { type HistoryOptions, historyOf } from "../../../../src/gateway/mew/translate/history.ts";
import type { AgentEventBody } from "../../../../src/protocol/events.ts";
import { ulidOf } from "../../../../src/protocol/mew/ids.ts";
import { type MewMessage, MewMessageSchema, type MewPart } from "../../../../src/protocol/mew/values.ts";
import {
  agent,
  asked,
  call,
  done,
  ended,
  envelopes,
  messageId,
  said,
  started,
  turn,
  usage,
} from "./events.ts";

const m1 = messageId(1);
const m2 = messageId(2);
const options: HistoryOptions = { agent, provider: "acp", model: "acme", streaming: null, isNewest: true };

function history(bodies: readonly AgentEventBody[], more: Partial<HistoryOptions> = {}): MewMessage[] {
  const messages = historyOf(envelopes(bodies), { ...options, ...more }).map(({ message }) => message);
  for (const message of messages) expect(Check(MewMessageSchema, message)).toBe(true);
  return messages;
}
function briefPart(part: MewPart): string {
  if (part.type === "tool_call") return `call(${part.state.status})`;
  if (part.type === "file") return `file(${part.url})`;
  if (part.type === "compaction") return `compaction(${part.summary})`;
  return `${part.type}(${part.text})`;
}
const brief = ({ role, parts, assistant }: MewMessage): string =>
  `${role}: ${parts.map(briefPart).join(" ")}${assistant ? ` ${assistant.finish ?? "-"}` : ""}`;

describe("the history of a session", () => {
  it.each<[string, AgentEventBody[], string[]]>([
    ["nothing", [], []],
    ["a prompt alone", [started, asked], ["user: text(do it)"]],
    [
      "an answer",
      [started, asked, said(m1, "Done.", "hm"), done],
      ["user: text(do it)", "assistant: reasoning(hm) text(Done.) stop"],
    ],
    [
      "a call that joins the message before it, and a message behind it",
      [started, asked, said(m1, "Look."), call("c1"), ended("c1", "a"), said(m2, "Done."), done],
      ["user: text(do it)", "assistant: text(Look.) call(completed) tool_use", "assistant: text(Done.) stop"],
    ],
    [
      "a command line of the shell",
      [started, asked, call("c1"), ended("c1", "no", true), done],
      ["user: text(do it)", "assistant: call(error) tool_use"],
    ],
    [
      "calls side by side",
      [started, asked, said(m1, "x"), call("c1"), call("c2"), ended("c2", ""), ended("c1", ""), done],
      [
        "user: text(do it)",
        "assistant: text(x) call(completed) tool_use",
        "assistant: call(completed) tool_use",
      ],
    ],
    [
      "two messages in one turn",
      [started, asked, said(m1, "a"), said(m2, "b"), done],
      ["user: text(do it)", "assistant: text(a) tool_use", "assistant: text(b) stop"],
    ],
    [
      "attachments by name",
      [started, { ...asked, attachments: [{ name: "a/shot.png", kind: "image" }] } as AgentEventBody, done],
      ["user: text(do it) file(a/shot.png)"],
    ],
    [
      "a compaction",
      [started, { type: "compacted", summary: "short" }, done],
      ["assistant: compaction(short) -"],
    ],
    [
      "only what came after the context was cleared",
      [started, asked, said(m1, "a"), done, { type: "cleared" }, started, asked, said(m2, "b"), done],
      ["user: text(do it)", "assistant: text(b) stop"],
    ],
    [
      "a call whose beginning is on another page",
      [ended("c1", "a"), done],
      ["assistant: call(completed) tool_use"],
    ],
    [
      "a call that the daemon's end cut off",
      [started, asked, call("c1")],
      ["user: text(do it)", "assistant: call(error) tool_use"],
    ],
    [
      "no permissions, titles, notices and todos",
      [
        { type: "title", title: "t" },
        { type: "notice", message: "n" },
        { type: "todos", todos: [] },
        { type: "permission_resolved", request_id: turn, allowed: true, decision: "allow", by: null },
      ],
      [],
    ],
  ])("shows %s", (_, bodies, expected) => {
    expect(history(bodies).map(brief)).toEqual(expected);
  });

  it("has what the open turn has said so far, under the ids that its next deltas carry", () => {
    const streaming = {
      message: m1,
      text: "Do",
      thinking: "hm",
      tools: [{ call_id: "c1", output: "a\n" }],
    };
    const messages = history([started, asked, call("c1")], { streaming });
    expect(messages.map(brief)).toEqual([
      "user: text(do it)",
      "assistant: call(running) tool_use",
      "assistant: reasoning(hm) text(Do) -",
    ]);
    expect(messages[1]?.parts[0]).toMatchObject({ state: { status: "running", output: "a\n" } });
    expect(messages[2]?.id).toBe(ulidOf(m1));
    expect(messages[2]?.time).not.toHaveProperty("completed");
  });

  it("says how a turn failed, at the message that it had come to", () => {
    const failed: AgentEventBody = { type: "turn_finished", turn, outcome: "failed", error: "gone" };
    const [, message] = history([started, asked, said(m1, "a"), failed]);
    expect(message?.assistant).toMatchObject({
      finish: "error",
      error: { kind: "unknown", message: "gone" },
    });
    const cancelled: AgentEventBody = { type: "turn_finished", turn, outcome: "cancelled" };
    expect(history([started, asked, said(m1, "a"), cancelled])[1]?.assistant?.error?.kind).toBe("aborted");
    expect(history([started, asked, failed]).map(brief)).toEqual(["user: text(do it)"]);
  });

  it("counts tokens and cost at the message they came with, and names runtime and model", () => {
    const [, message] = history([started, asked, said(m1, "a"), usage(100, 0.5), usage(1), done]);
    expect(message?.assistant).toMatchObject({
      provider_id: "acp",
      model_id: "acme",
      cost: 0.5,
      tokens: { input: 101, output: 20 },
    });
  });

  it("carries bare ULIDs in messages and parts, and milliseconds", () => {
    const [prompt, answer] = history([started, asked, said(m1, "a"), done]);
    expect(prompt).toMatchObject({
      id: ulidOf(turn),
      session_id: ulidOf(agent),
      time: { created: 1_757_600_002_000 },
    });
    expect(answer?.parts[0]).toMatchObject({ message_id: ulidOf(m1), session_id: ulidOf(agent) });
  });

  it("takes a record that names no UUIDs, as another program's transcript may", () => {
    expect(history([started, asked, said("msg_1", "a"), done]).map(brief)[1]).toBe("assistant: text(a) stop");
  });
});

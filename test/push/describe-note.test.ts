import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/protocol/events.ts";
import { decisionsFor, describeNote } from "../../src/push/describe-note.ts";
import { lastTextOf } from "../../src/push/last-text.ts";
import type { RequestNote, TurnNote } from "../../src/push/notes.ts";

const bash = (command: string) => ({ tool: "bash", summary: command, input: { command } });

describe("decisionsFor", () => {
  it.each([
    ["a short command", bash("npm test"), ["allow", "deny"]],
    ["one of 160 characters", bash("x".repeat(160)), ["allow", "deny"]],
    ["one that is cut on the screen", bash("x".repeat(161)), ["deny"]],
    ["one with more input than is shown", { ...bash("x"), input: { command: "x", timeout: 9 } }, ["deny"]],
    [
      "an edit, whose content is not shown",
      { tool: "edit", summary: "a.ts", input: { path: "a.ts", text: "…" } },
      ["deny"],
    ],
    ["a title that is not the call", { ...bash("rm -rf ~"), summary: "List files" }, ["deny"]],
    ["input that is no object", { tool: "x", summary: "x", input: "x" }, ["deny"]],
    ["no input", { tool: "x", summary: "x", input: null }, ["deny"]],
  ])("of %s", (_, request, decisions) => {
    expect(decisionsFor(request)).toEqual(decisions);
  });
});

describe("describeNote", () => {
  const base = { sinceMs: 0, workspace: "w", tab: "t" };
  const context = {
    place: { tab_name: "api\u202e", agent_name: null },
    mayApprove: false,
    text: "👍".repeat(400),
  };
  const request: RequestNote = {
    ...base,
    kind: "request",
    tag: "request-r",
    event: {
      type: "permission_requested",
      request_id: "r",
      agent: null,
      cwd: "/srv",
      digest: "d",
      ...bash("npm test"),
    } as RequestNote["event"],
  };

  it("offers no decision to a device that may not approve, and shows hidden characters", () => {
    expect(describeNote(request, context)).toMatchObject({ decisions: [], tab_name: "api⟨U+202E⟩" });
    expect(describeNote(request, { ...context, mayApprove: true })).toMatchObject({
      decisions: ["allow", "deny"],
    });
  });

  it("sends nothing of the input", () => {
    expect(JSON.stringify(describeNote(request, context))).not.toContain("input");
  });

  it("cuts texts between characters", () => {
    const turn: TurnNote = {
      ...base,
      kind: "turn",
      tag: "turn-t",
      agent: "a",
      turn: "t",
      outcome: "done",
      error: null,
      tookMs: 1,
      askedBy: null,
    };
    const shown = describeNote(turn, context);
    expect(shown.kind === "turn" && shown.text).toBe(`${"👍".repeat(299)}…`);
    expect(describeNote({ ...turn, error: "no disk" }, context)).toMatchObject({ text: "no disk" });
  });
});

describe("lastTextOf", () => {
  const events = (...bodies: object[]) => bodies as AgentEvent[];
  const says = (text: string) => ({ type: "assistant_message", message: { id: "m", text } });
  const begins = (turn: string) => ({ type: "turn_started", turn });
  const ends = (turn: string) => ({ type: "turn_finished", turn, outcome: "done" });

  it("is the first line of the last message of that turn, without marks", () => {
    const records = events(
      ...[begins("1"), says("old"), ends("1")],
      ...[begins("2"), says("first"), says("\n## **All** `pages` pass\nmore"), ends("2")],
      ...[begins("3"), says("later")],
    );
    expect(lastTextOf(records, "2")).toBe("All pages pass");
    expect(lastTextOf(records, "9")).toBeNull();
  });

  it("is nothing of an earlier turn", () => {
    expect(lastTextOf(events(begins("1"), says("old"), ends("1"), begins("2"), ends("2")), "2")).toBeNull();
  });
});

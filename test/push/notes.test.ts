import { describe, expect, it } from "vitest";
import type { Change } from "../../src/protocol/changes.ts";
import { createNoteBook } from "../../src/push/notes.ts";

const phone = { device: "phone", name: "Phone" };
const local = { device: null, name: "local" };

function book() {
  const notes = createNoteBook();
  let rev = 0;
  const take = (change: object, nowMs = 0) => notes.take({ ...change, rev: ++rev } as Change, nowMs);
  const event = (body: object, nowMs = 0, agent = "a") =>
    take({ type: "event", workspace: "w", tab: "t", event: { agent, seq: rev, at: "", ...body } }, nowMs);
  const turn = (id: string, fromMs: number, toMs: number, more: object = {}, agent = "a") => {
    event({ type: "turn_started", turn: id }, fromMs, agent);
    event({ type: "user_message", turn: id, text: "", attachments: [], by: phone }, fromMs, agent);
    return event({ type: "turn_finished", turn: id, outcome: "done", ...more }, toMs, agent);
  };
  return { take, event, turn, tags: () => [...notes.open.keys()], open: notes.open };
}

describe("the book of what waits for a person", () => {
  it("holds a request until it is resolved, and says by whom", () => {
    const { event, tags } = book();
    expect(event({ type: "permission_requested", request_id: "p" })).toEqual({ kind: "opened" });
    event({ type: "question_asked", request_id: "q" });
    expect(tags()).toEqual(["request-p", "request-q"]);
    expect(event({ type: "permission_resolved", request_id: "p", by: phone })).toEqual({
      kind: "closed",
      tags: ["request-p"],
      by: "phone",
    });
    expect(event({ type: "question_resolved", request_id: "q", by: null })).toMatchObject({ by: null });
    expect(event({ type: "question_resolved", request_id: "q", by: local })).toBeNull();
    expect(tags()).toEqual([]);
  });

  it("holds the end of a turn until the agent goes on, with who asked and how long it took", () => {
    const { turn, event, tags, open } = book();
    expect(turn("t1", 1_000, 5_000, { outcome: "failed", error: "no" })).toEqual({ kind: "opened" });
    expect(open.get("turn-t1")).toMatchObject({ tookMs: 4_000, askedBy: "phone", error: "no", tab: "t" });
    expect(event({ type: "turn_started", turn: "t2" })).toMatchObject({ kind: "closed", tags: ["turn-t1"] });
    expect(tags()).toEqual([]);
  });

  it("leaves out what was cancelled, what began in an earlier process, and subagents", () => {
    const { turn, event, tags } = book();
    expect(turn("t1", 0, 9, { outcome: "cancelled" })).toBeNull();
    expect(event({ type: "turn_finished", turn: "t0", outcome: "failed" })).toBeNull();
    event({ type: "agent_started", parent: "a" }, 0, "child");
    expect(turn("t2", 0, 9, {}, "child")).toBeNull();
    expect(tags()).toEqual([]);
  });

  it("forgets turns of a closed tab, and the oldest of too many", () => {
    const { take, turn, tags } = book();
    for (let count = 0; count < 205; count++) turn(`t${count}`, 0, 1, {}, `agent${count}`);
    expect(tags()).toHaveLength(200);
    expect(tags()[0]).toBe("turn-t5");
    take({ type: "tab_closed", tab: "t" });
    expect(tags()).toEqual([]);
  });

  it("takes no notice of anything else", () => {
    const { take, event } = book();
    expect(event({ type: "text_delta", message: "m", text: "x" })).toBeNull();
    expect(take({ type: "clients", count: 2 })).toBeNull();
  });
});

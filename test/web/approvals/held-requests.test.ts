import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Held,
  holdRequests,
  keepEndedMs,
  nextRemovalMs,
  type Waiting,
  waitingOf,
} from "../../../web/approvals/held-requests.ts";
import { request } from "./samples.ts";

const waiting = (id: string, digest = "d"): Waiting => ({
  kind: "permission",
  request: request({ request_id: id, digest }),
});
const outcomes = new Map([["r1", { allowed: true, by: "laptop", atMs: 0 }]]);
const ids = (held: readonly Held[]) => held.map(({ key, end }) => `${key}${end === null ? "" : " ended"}`);

describe("holdRequests", () => {
  it("puts what is new at the end, whatever its place in the list of the daemon", () => {
    const first = holdRequests([], [waiting("r2")], outcomes, 0);
    expect(ids(holdRequests(first, [waiting("r1"), waiting("r2")], outcomes, 1))).toEqual(["r2 d", "r1 d"]);
  });

  it("keeps an answered card in its place for a while, and says how it ended", () => {
    const before = holdRequests([], [waiting("r1"), waiting("r2")], outcomes, 0);
    const ended = holdRequests(before, [waiting("r2")], outcomes, 1_000);
    expect(ids(ended)).toEqual(["r1 d ended", "r2 d"]);
    expect(ended[0]?.end).toMatchObject({ outcome: { by: "laptop" }, isChanged: false });
    expect(nextRemovalMs(ended)).toBe(1_000 + keepEndedMs);
    expect(holdRequests(ended, [waiting("r2")], outcomes, 999 + keepEndedMs)).toBe(ended);
    expect(ids(holdRequests(ended, [waiting("r2")], outcomes, 1_000 + keepEndedMs))).toEqual(["r2 d"]);
  });

  it("never shows a changed call in the card of the one before", () => {
    const before = holdRequests([], [waiting("r1", "old")], outcomes, 0);
    const after = holdRequests(before, [waiting("r1", "new")], outcomes, 1);
    expect(ids(after)).toEqual(["r1 old ended", "r1 new"]);
    expect(after[0]?.end?.isChanged).toBe(true);
  });

  it("yields the same list when nothing has changed, so that nothing is drawn", () => {
    const open = [waiting("r1")];
    const before = holdRequests([], open, outcomes, 0);
    expect(holdRequests(before, [...open], outcomes, 5)).toBe(before);
    expect(nextRemovalMs(before)).toBeNull();
  });

  it("never moves a card before another, and never changes what a card shows", () => {
    const list = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e"));
    fc.assert(
      fc.property(fc.array(fc.record({ open: list, waitMs: fc.nat({ max: 6_000 }) })), (steps) => {
        let held: readonly Held[] = [];
        let nowMs = 0;
        let before: readonly ("a" | "b" | "c" | "d" | "e")[] = [];
        const closed = new Set<(typeof before)[number]>();
        for (const { open: ids, waitMs } of steps) {
          nowMs += waitMs;
          // What was answered never waits again.
          for (const id of before) if (!ids.includes(id)) closed.add(id);
          before = ids;
          const open = ids.filter((id) => !closed.has(id));
          const next = holdRequests(
            held,
            open.map((id) => waiting(id)),
            outcomes,
            nowMs,
          );
          const stayed = held
            .filter((card) => next.some(({ key }) => key === card.key))
            .map(({ key }) => key);
          const known = next.filter(({ key }) => stayed.includes(key)).map(({ key }) => key);
          expect(known).toEqual(stayed);
          for (const { key, waiting: shown } of held) {
            const now = next.find((card) => card.key === key);
            if (now !== undefined) expect(now.waiting).toEqual(shown);
          }
          held = next;
        }
      }),
    );
  });
});

describe("waitingOf", () => {
  it("lists calls and questions by when they came", () => {
    const question = {
      request_id: "q1",
      workspace: "w",
      tab: "t",
      agent: "a",
      turn: "u",
      call_id: null,
      subagent: null,
      questions: [],
      at: "2026-11-30T12:00:01.000Z",
    };
    const early = request({ request_id: "r1", at: "2026-11-30T12:00:00.000Z" });
    const late = request({ request_id: "r2", at: "2026-11-30T12:00:02.000Z" });
    expect(waitingOf([late, early], [question]).map(({ request: each }) => each.request_id)).toEqual([
      "r1",
      "q1",
      "r2",
    ]);
  });
});

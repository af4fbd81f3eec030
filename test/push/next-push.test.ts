import { describe, expect, it } from "vitest";
import { type Delivery, fullPace, nextStep, paceAfter } from "../../src/push/next-push.ts";
import type { Note, RequestNote, TurnNote } from "../../src/push/notes.ts";

const afterMs = 15_000;
const place = { workspace: null, tab: null };
const request = (id: string, sinceMs: number): RequestNote => ({
  kind: "request",
  tag: `request-${id}`,
  sinceMs,
  ...place,
  event: { type: "question_asked" } as RequestNote["event"],
});
const turn = (id: string, sinceMs: number, more: Partial<TurnNote> = {}): TurnNote => ({
  kind: "turn",
  tag: `turn-${id}`,
  sinceMs,
  ...place,
  agent: "a",
  turn: id,
  outcome: "done",
  error: null,
  tookMs: 60_000,
  askedBy: null,
  ...more,
});
const delivery = (more: Partial<Delivery> = {}): Delivery => ({
  device: "phone",
  kinds: new Set(["requests", "turns"]),
  sinceMs: 0,
  told: new Set(),
  shown: new Set(),
  sending: false,
  quietUntilMs: 0,
  ...more,
});
const step = (notes: readonly Note[], nowMs: number, more: Partial<Delivery> = {}) =>
  nextStep(delivery(more), new Map(notes.map((note) => [note.tag, note])), { afterMs, nowMs });

const rest = { kind: "rest" };
const send = (tell: readonly string[], urgent = true) => ({ kind: "send", tell, urgent });
const wait = (untilMs: number) => ({ kind: "wait", untilMs });

describe("nextStep", () => {
  it.each<[string, readonly Note[], number, Partial<Delivery>, object]>([
    ["nothing is open", [], 100_000, {}, rest],
    ["a request is young", [request("r", 1_000)], 2_000, {}, wait(16_000)],
    ["a request was left alone for 15 s", [request("r", 1_000)], 16_000, {}, send(["request-r"])],
    ["it was told", [request("r", 1_000)], 16_000, { told: new Set(["request-r"]) }, rest],
    ["requests are not wanted", [request("r", 0)], 99_000, { kinds: new Set(["turns"]) }, rest],
    ["a long turn ended", [turn("t", 0)], 15_000, {}, send(["turn-t"], false)],
    ["somebody may still go on", [turn("t", 0)], 14_999, {}, wait(15_000)],
    ["turns are not wanted", [turn("t", 0)], 99_000, { kinds: new Set(["requests"]) }, rest],
    ["a short turn of somebody else ended", [turn("t", 0, { tookMs: 14_999 })], 99_000, {}, rest],
    [
      "a short turn of its own ended",
      [turn("t", 0, { tookMs: 10, askedBy: "phone" })],
      15_000,
      {},
      send(["turn-t"], false),
    ],
    ["a turn ended before it subscribed", [turn("t", 0)], 99_000, { sinceMs: 1 }, rest],
    ["a request was open when it subscribed", [request("r", 0)], 20_000, { sinceMs: 10_000 }, wait(25_000)],
    ["a message is on its way", [request("r", 0)], 99_000, { sending: true }, rest],
    ["it rests", [request("r", 0)], 99_000, { quietUntilMs: 99_500 }, wait(99_500)],
    ["it rested", [request("r", 0)], 99_500, { quietUntilMs: 99_500 }, send(["request-r"])],
    [
      "several are due",
      [request("a", 0), turn("t", 0), request("b", 99_000)],
      99_000,
      {},
      send(["request-a", "turn-t"]),
    ],
    [
      "a request that may be on the screen was answered",
      [],
      1,
      { told: new Set(["request-r"]), shown: new Set(["request-r"]) },
      send([], false),
    ],
    ["a request that nobody fetched was answered", [], 1, { told: new Set(["request-r"]) }, rest],
    ["a turn on the screen is over", [], 1, { shown: new Set(["turn-t"]) }, rest],
  ])("when %s", (_, notes, nowMs, more, expected) => {
    expect(step(notes, nowMs, more)).toEqual(expected);
  });
});

describe("paceAfter", () => {
  it("lets six messages go a second apart, then one in 15 s", () => {
    let pace = fullPace;
    let nowMs = 1_000_000;
    const waits: number[] = [];
    for (let count = 0; count < 10; count++) {
      const next = paceAfter(pace, nowMs);
      waits.push(Math.round((next.quietUntilMs - nowMs) / 1_000));
      pace = next.pace;
      nowMs = next.quietUntilMs;
    }
    expect(waits.slice(0, 5)).toEqual([1, 1, 1, 1, 1]);
    expect(waits.slice(6)).toEqual([15, 15, 15, 15]);
  });
});

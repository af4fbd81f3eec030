import { describe, expect, it } from "vitest";
import { createTapGuard, settleMs } from "../../../web/approvals/tap-guard.ts";

describe("createTapGuard", () => {
  it("takes nothing before what is pressed was there at all", () => {
    const guard = createTapGuard();
    guard.pressed(10_000);
    expect(guard.counts(10_001, false)).toBe(false);
  });

  it.each([
    [
      "a press long after the last movement",
      [
        ["moved", 0],
        ["pressed", settleMs],
      ],
      settleMs + 50,
      true,
    ],
    [
      "a press too soon after it",
      [
        ["moved", 0],
        ["pressed", settleMs - 1],
      ],
      settleMs + 5_000,
      false,
    ],
    [
      "a finger that was down when it moved",
      [
        ["moved", 0],
        ["pressed", 1_000],
        ["moved", 1_050],
      ],
      1_100,
      false,
    ],
    [
      "a finger that stayed down until it was still",
      [
        ["pressed", 0],
        ["moved", 10],
      ],
      10_000,
      false,
    ],
  ] as const)("judges %s", (_name, events, clickMs, counts) => {
    const guard = createTapGuard();
    guard.moved(-10_000);
    for (const [what, atMs] of events) guard[what](atMs);
    expect(guard.counts(clickMs, false)).toBe(counts);
  });

  it("judges a key by its own moment", () => {
    const guard = createTapGuard();
    guard.moved(0);
    expect(guard.counts(settleMs - 1, true)).toBe(false);
    expect(guard.counts(settleMs, true)).toBe(true);
  });
});

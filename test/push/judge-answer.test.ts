import { describe, expect, it } from "vitest";
import { backOffMs, judgeAnswer, parseRetryAfter } from "../../src/push/judge-answer.ts";

const now = Date.UTC(2026, 10, 30, 12);
const judge = (status: number, rawRetryAfter?: string) => judgeAnswer({ status, rawRetryAfter }, now);

describe("judgeAnswer", () => {
  it.each([
    [200, "accepted"],
    [201, "accepted"],
    [202, "accepted"],
    [404, "gone"],
    [410, "gone"],
    [301, "failed"],
    [307, "failed"],
    [400, "failed"],
    [401, "failed"],
    [403, "failed"],
    [413, "failed"],
    [429, "failed"],
    [500, "failed"],
    [503, "failed"],
    [0, "failed"],
  ])("reads %i as %s", (status, kind) => {
    expect(judge(status).kind).toBe(kind);
  });

  it("names the setting that a push service may dislike", () => {
    expect(judge(403)).toMatchObject({ problem: expect.stringContaining("push.contact") });
  });

  it.each([
    [undefined, null],
    ["120", 120_000],
    ["0", 0],
    ["-5", null],
    ["2026", 2_026_000],
    ["2026-11-30", null],
    ["999999999", 86_400_000],
    ["Mon, 30 Nov 2026 12:01:00 GMT", 60_000],
    ["Mon, 30 Nov 2026 11:00:00 GMT", 0],
    ["soon", null],
    ["9".repeat(1_000), null],
  ])("reads Retry-After %j as %s ms", (raw, ms) => {
    expect(parseRetryAfter(raw, now)).toBe(ms);
  });
});

describe("backOffMs", () => {
  it("doubles from 15 s to an hour, and never falls short of Retry-After", () => {
    expect([1, 2, 3, 9, 1_000].map((failures) => backOffMs(failures, null, 0))).toEqual([
      15_000, 30_000, 60_000, 3_600_000, 3_600_000,
    ]);
    expect(backOffMs(1, 7_200_000, 0)).toBe(7_200_000);
    expect(backOffMs(1, null, 1)).toBe(18_750);
  });
});

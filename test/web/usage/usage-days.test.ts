import { describe, expect, it } from "vitest";
import { barsOf, costText, shortCount } from "../../../web/usage/usage-days.ts";

const none = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, cost: null };

describe("barsOf", () => {
  it("has a bar for every day of the window, over the end of a month, also where nothing was used", () => {
    const bars = barsOf({
      from: "2026-02-27",
      to: "2026-03-02",
      per_day: [
        { day: "2026-02-28", ...none, input_tokens: 50, cache_read_tokens: 50, cost: 0.5 },
        { day: "2026-03-02", ...none, output_tokens: 25 },
      ],
    });
    expect(bars).toEqual([
      { day: "2026-02-27", tokens: 0, cost: null, share: 0 },
      { day: "2026-02-28", tokens: 100, cost: 0.5, share: 1 },
      { day: "2026-03-01", tokens: 0, cost: null, share: 0 },
      { day: "2026-03-02", tokens: 25, cost: null, share: 0.25 },
    ]);
  });
  it("ends after a year however wide the window says it is", () => {
    expect(barsOf({ from: "0001-01-01", to: "9999-12-31", per_day: [] })).toHaveLength(366);
    expect(barsOf({ from: "nonsense", to: "2026-01-01", per_day: [] })).toEqual([]);
  });
});

describe("shortCount", () => {
  it.each([
    [0, "0"],
    [950, "950"],
    [999, "999"],
    [1000, "1k"],
    [12_340, "12.3k"],
    [123_400, "123k"],
    [999_600, "1M"],
    [4_500_000, "4.5M"],
    [2_000_000_000_000, "2000G"],
  ])("%d is %s", (count, text) => expect(shortCount(count)).toBe(text));
});

describe("costText", () => {
  it.each([
    [null, "–"],
    [0, "$0.00"],
    [0.004, "< $0.01"],
    [12.3, "$12.30"],
  ])("%s is %s", (cost, text) => expect(costText(cost)).toBe(text));
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createHeights } from "../../../web/virtual/heights.ts";

describe("createHeights", () => {
  it("adds up estimates and measures", () => {
    const heights = createHeights({ estimate: () => 100 });
    heights.setKeys(["a", "b", "c"]);
    expect(heights.total).toBe(300);
    expect(heights.measure("b", 40)).toBe(true);
    expect(heights.measure("b", 40)).toBe(false);
    expect(heights.measure("gone", 40)).toBe(false);
    expect([0, 1, 2, 3].map(heights.offsetOf)).toEqual([0, 100, 140, 240]);
    expect([-5, 0, 99, 100, 139, 140, 1_000].map(heights.indexAt)).toEqual([0, 0, 0, 1, 1, 2, 2]);
  });

  it("keeps what was measured when rows come before and behind", () => {
    const heights = createHeights({ estimate: () => 10 });
    heights.setKeys(["b"]);
    heights.measure("b", 33);
    heights.setKeys(["a", "b", "c"]);
    expect([0, 1, 2, 3].map(heights.offsetOf)).toEqual([0, 10, 43, 53]);
    heights.setKeys(["c"]);
    heights.setKeys(["b", "c"]);
    expect(heights.total).toBe(20);
  });

  it("is right after any changes, as adding up anew would be", () => {
    const keys = fc.uniqueArray(fc.integer({ min: 0, max: 40 }).map(String), { maxLength: 40 });
    const change = fc.oneof(
      fc.record({ keys }),
      fc.record({ key: fc.nat({ max: 40 }).map(String), px: fc.integer({ min: 0, max: 500 }) }),
    );
    fc.assert(
      fc.property(fc.array(change), fc.integer({ min: -100, max: 5_000 }), (changes, offset) => {
        const heights = createHeights({ estimate: (key) => key.length * 10 });
        let rows: string[] = [];
        let known = new Map<string, number>();
        for (const each of changes) {
          if ("keys" in each) {
            rows = each.keys;
            known = new Map([...known].filter(([key]) => rows.includes(key)));
            heights.setKeys(rows);
          } else if (rows.includes(each.key)) {
            known.set(each.key, each.px);
            heights.measure(each.key, each.px);
          }
          heights.offsetOf(Math.floor(rows.length / 2));
        }
        const tops = [0];
        for (const key of rows) tops.push((tops.at(-1) ?? 0) + (known.get(key) ?? key.length * 10));
        expect(tops.map((_, index) => heights.offsetOf(index))).toEqual(tops);
        const last = tops.slice(0, -1).findLastIndex((top) => top <= offset);
        expect(heights.indexAt(offset)).toBe(Math.max(0, last));
      }),
    );
  });

  it("holds ten thousand rows, and finds any of them", () => {
    const heights = createHeights({ estimate: () => 50 });
    const keys = Array.from({ length: 10_000 }, (_, i) => `k${i}`);
    heights.setKeys(keys);
    for (const key of keys) heights.measure(key, 60);
    expect(heights.total).toBe(600_000);
    expect(heights.indexAt(300_030)).toBe(5_000);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAnchoredList } from "../../../web/virtual/anchored.ts";

function listOf(count: number) {
  const list = createAnchoredList({ estimate: () => 50 });
  list.heights.setKeys(Array.from({ length: count }, (_, i) => `k${i}`));
  return list;
}

describe("createAnchoredList", () => {
  it("draws what the viewport shows, and a little more", () => {
    const list = listOf(100);
    expect(list.range({ top: 1_000, height: 200 }, 0)).toEqual({ first: 20, end: 25 });
    expect(list.range({ top: 1_000, height: 200 }, 100)).toEqual({ first: 18, end: 27 });
    expect(list.range({ top: 0, height: 200 }, 100)).toEqual({ first: 0, end: 7 });
    expect(createAnchoredList({ estimate: () => 1 }).range({ top: 0, height: 10 }, 5)).toEqual({
      first: 0,
      end: 0,
    });
  });

  it("keeps what is read in its place when older rows come above it", () => {
    const list = listOf(10);
    const viewport = { top: 120, height: 200 };
    const before = list.topOf(2);
    list.change(viewport, (heights) =>
      heights.setKeys(["x", "y", "z", ...Array.from({ length: 10 }, (_, i) => `k${i}`)]),
    );
    expect(list.topOf(5)).toBe(before);
    expect(list.shift).toBe(-150);
    expect(list.settle(viewport)).toBe(270);
    expect(list.topOf(5) - 270).toBe(before - 120);
  });

  it("lets a row that is opened grow downwards", () => {
    const list = listOf(10);
    list.heights.measure("k2", 51);
    list.change({ top: 120, height: 200 }, (heights) => heights.measure("k2", 500));
    expect(list.shift).toBe(0);
  });

  it("lets a row that nobody has seen yet grow upwards, out of the viewport", () => {
    const list = listOf(10);
    const before = list.topOf(3);
    list.change({ top: 120, height: 200 }, (heights) => heights.measure("k2", 500));
    expect(list.topOf(3)).toBe(before);
  });

  it("keeps the row behind in its place when the first one is gone", () => {
    const list = listOf(10);
    const before = list.topOf(3);
    list.change({ top: 120, height: 200 }, (heights) =>
      heights.setKeys(Array.from({ length: 10 }, (_, i) => `k${i}`).filter((key) => key !== "k2")),
    );
    expect(list.topOf(2)).toBe(before);
  });

  it("moves nothing that is seen, whatever is measured and added", () => {
    const step = fc.oneof(
      fc.record({ key: fc.nat({ max: 60 }), px: fc.integer({ min: 1, max: 400 }) }),
      fc.record({ above: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ below: fc.integer({ min: 1, max: 5 }) }),
      fc.constant({ settle: true }),
      fc.record({ scroll: fc.integer({ min: -300, max: 300 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const list = createAnchoredList({ estimate: () => 50 });
        let low = 0;
        let high = 30;
        const keys = () => Array.from({ length: high - low }, (_, i) => `k${low + i}`);
        list.heights.setKeys(keys());
        let top = 700;
        for (const each of steps) {
          const viewport = { top, height: 300 };
          const { heights } = list;
          const first = heights.indexAt(top - list.shift);
          const isSeen = heights.isMeasured(heights.keyAt(first) ?? "") || list.topOf(first) >= top;
          const index = isSeen ? first : first + 1;
          const key = heights.keyAt(index) ?? "";
          const seen = list.topOf(index) - top;
          if ("key" in each) list.change(viewport, () => heights.measure(`k${each.key - 20}`, each.px));
          else if ("above" in each) {
            low -= each.above;
            list.change(viewport, () => heights.setKeys(keys()));
          } else if ("below" in each) {
            high += each.below;
            list.change(viewport, () => heights.setKeys(keys()));
          } else if ("settle" in each) {
            const settled = list.settle(viewport);
            // The browser goes no further than to the beginning; nothing stands above it then.
            if (settled > 0) top = settled;
            else {
              top = 0;
              continue;
            }
          } else {
            top = Math.max(0, Math.min(list.contentHeight - 300, top + each.scroll));
            continue;
          }
          expect(list.topOf(heights.indexOf(key) ?? -1) - top).toBeCloseTo(seen, 6);
        }
      }),
    );
  });
});

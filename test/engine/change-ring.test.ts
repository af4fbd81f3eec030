import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createChangeRing } from "../../src/engine/change-ring.ts";

describe("createChangeRing", () => {
  it("gives back what was pushed, whatever the lengths, and holds the newest within its bounds", () => {
    const texts = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }), { maxLength: 60 });
    fc.assert(
      fc.property(
        texts,
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 100 }),
        (pushed, count, bytes) => {
          const ring = createChangeRing({ maxCount: count, maxBytes: bytes });
          for (const [at, text] of pushed.entries()) {
            expect(ring.push(text).toString()).toBe(text);
            const held = Array.from({ length: at + 2 - ring.oldest }, (_, n) => ring.oldest + n);
            expect(held.length).toBeGreaterThanOrEqual(1);
            expect(held.length).toBeLessThanOrEqual(count);
            expect(held.map((rev) => ring.get(rev).toString())).toEqual(held.map((rev) => pushed[rev - 1]));
            const heldBytes = held.reduce((sum, rev) => sum + ring.get(rev).length, 0);
            expect(held.length === 1 || heldBytes <= bytes).toBe(true);
            expect(() => ring.get(at + 2)).toThrow(RangeError);
            expect(() => ring.get(ring.oldest - 1)).toThrow(RangeError);
          }
        },
      ),
    );
  });
});

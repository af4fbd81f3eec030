import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAttemptWindow } from "../../src/pairing/attempt-window.ts";

describe("createAttemptWindow", () => {
  it("lets max events into any window, wherever it begins", () => {
    const steps = fc.array(fc.nat(400), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(steps, (gaps) => {
        const window = createAttemptWindow(5, 1_000);
        const taken: number[] = [];
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          const free = window.waitMs(now) === 0;
          expect(window.tryAdd(now)).toBe(free);
          if (free) taken.push(now);
        }
        for (const start of taken)
          expect(taken.filter((at) => at >= start && at < start + 1_000).length).toBeLessThanOrEqual(5);
      }),
    );
  });

  it("says how long to wait, and what it refused does not count", () => {
    const window = createAttemptWindow(2, 1_000);
    expect([window.tryAdd(0), window.tryAdd(400), window.tryAdd(900)]).toEqual([true, true, false]);
    expect(window.waitMs(900)).toBe(100);
    expect([window.tryAdd(1_000), window.tryAdd(1_001)]).toEqual([true, false]);
  });
});

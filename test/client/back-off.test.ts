import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backOffMs } from "../../src/client/back-off.ts";
import { randomFraction, randomHex } from "../../src/client/random.ts";

describe("backOffMs", () => {
  it.each([
    [0, 0, 250],
    [0, 0.999, 500],
    [1, 0, 500],
    [3, 0.5, 3_000],
    [6, 0, 15_000],
    [60, 0.999, 29_985],
    [1_000, 0.999, 29_985],
  ])("after %i failures with the fraction %d waits about %i ms", (failures, fraction, waitMs) => {
    expect(Math.abs(backOffMs(failures, () => fraction) - waitMs)).toBeLessThanOrEqual(1);
  });

  it("waits at least 0.25 s and at most 30 s, whatever happens", () => {
    fc.assert(
      fc.property(fc.nat(), fc.double({ min: 0, max: 0.999_999, noNaN: true }), (failures, fraction) => {
        const waitMs = backOffMs(failures, () => fraction);
        return waitMs >= 250 && waitMs <= 30_000;
      }),
    );
  });
});

describe("the platform's randomness", () => {
  it("gives fractions and hex digits that differ", () => {
    const fractions = Array.from({ length: 100 }, randomFraction);
    expect(fractions.every((fraction) => fraction >= 0 && fraction < 1)).toBe(true);
    expect(new Set(fractions).size).toBeGreaterThan(90);
    expect(randomHex(16)).toMatch(/^[0-9a-f]{32}$/);
    expect(randomHex(16)).not.toBe(randomHex(16));
  });
});

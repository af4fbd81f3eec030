import { describe, expect, it } from "vitest";
import {
  createFloodMeter,
  createOccurrenceWindow,
  createTokenBucket,
} from "../../../src/gateway/sockets/flood.ts";

describe("a token bucket", () => {
  it("gives its capacity at once and then its rate", () => {
    const bucket = createTokenBucket({ capacity: 2, perSecond: 1 });
    expect([bucket.take(0), bucket.take(0), bucket.take(0)]).toEqual([true, true, false]);
    expect([bucket.take(999), bucket.take(1_999), bucket.take(2_000)]).toEqual([false, true, true]);
  });

  it("gains nothing from a clock that jumps back", () => {
    const bucket = createTokenBucket({ capacity: 1, perSecond: 1 });
    bucket.take(5_000);
    expect([bucket.take(0), bucket.take(500)]).toEqual([false, false]);
  });
});

describe("an occurrence window", () => {
  it("tells at the last of so many within the time", () => {
    const window = createOccurrenceWindow({ max: 3, windowMs: 60_000 });
    expect([0, 1, 60_000, 60_000, 200_000].map((at) => window.note(at))).toEqual([
      false,
      false,
      false,
      true,
      false,
    ]);
  });
});

describe("a flood meter", () => {
  const options = { borne: 5, forgottenPerSecond: 1, sustainedMs: 10_000 };

  it("bears a burst and tells when there is more", () => {
    const meter = createFloodMeter(options);
    expect(Array.from({ length: 6 }, () => meter.note(0))).toEqual([false, false, false, false, false, true]);
  });

  it("tells of few refusals that do not stop, and forgets those that do", () => {
    const steady = createFloodMeter({ ...options, borne: 100 });
    const told = Array.from({ length: 12 }, (_, second) => steady.note(second * 1_000));
    expect(told.indexOf(true)).toBe(10);
    const rare = createFloodMeter({ ...options, borne: 100 });
    expect(Array.from({ length: 50 }, (_, n) => rare.note(n * 3_000))).not.toContain(true);
  });
});

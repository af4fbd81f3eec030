import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createHeldBytes, holderOf } from "../../src/gateway/held-bytes.ts";
import { deviceLease } from "./harness.ts";

describe("held bytes", () => {
  it("bounds what one holder takes, and leaves room for the others", () => {
    const held = createHeldBytes({ maxBytes: 100, maxHolderBytes: 60 });
    const [first, second, other] = [held.share("a"), held.share("a"), held.share("b")];
    expect(first.set(40)).toBe(true);
    expect(second.set(21)).toBe(false);
    expect(second.set(20)).toBe(true);
    expect(other.set(41)).toBe(false);
    expect(other.set(40)).toBe(true);
  });

  it("takes less at any time, also when all is taken", () => {
    const held = createHeldBytes({ maxBytes: 10, maxHolderBytes: 10 });
    const share = held.share("a");
    expect(share.set(10)).toBe(true);
    expect(share.set(11)).toBe(false);
    expect(share.set(4)).toBe(true);
    expect(held.share("b").set(6)).toBe(true);
  });

  it("never holds more than its bounds, and gives everything back", () => {
    const step = fc.record({ share: fc.nat({ max: 5 }), bytes: fc.nat({ max: 80 }) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const held = createHeldBytes({ maxBytes: 100, maxHolderBytes: 60 });
        const shares = ["a", "a", "b", "b", "c", "c"].map((holder) => ({ ...held.share(holder), bytes: 0 }));
        for (const { share: index, bytes } of steps) {
          const share = shares[index];
          if (share?.set(bytes)) share.bytes = bytes;
          const sums = [0, 2, 4].map((at) => (shares[at]?.bytes ?? 0) + (shares[at + 1]?.bytes ?? 0));
          expect(Math.max(...sums)).toBeLessThanOrEqual(60);
          expect(sums.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(100);
        }
        for (const share of shares) expect(share.set(0)).toBe(true);
        expect(held.share("d").set(60)).toBe(true);
      }),
    );
  });

  it("counts for a device what it sends with any of its sockets and requests", () => {
    const lease = deviceLease();
    expect(lease.principal).toEqual({ kind: "device", device: holderOf(lease) });
    expect(holderOf({ ...lease, principal: { kind: "master" } })).toBe("master");
    expect(holderOf(null)).toBe("public");
  });
});

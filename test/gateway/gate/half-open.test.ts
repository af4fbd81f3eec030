import { describe, expect, it } from "vitest";
import { HalfOpenSockets } from "../../../src/gateway/half-open.ts";

describe("HalfOpenSockets", () => {
  const socket = (halfOpenKey: string | null) => ({ halfOpenKey });

  it("evicts the oldest of the same address first, then the oldest of all", () => {
    const table = new HalfOpenSockets({ maxPerKey: 2, maxTotal: 3 });
    const [a1, a2, a3, b1, c1] = [socket("a"), socket("a"), socket("a"), socket("b"), socket("c")];
    expect([table.add(a1), table.add(a2), table.add(a3)]).toEqual([null, null, a1]);
    expect(table.add(b1)).toBeNull();
    expect(table.add(c1)).toBe(a2);
    expect(table.size).toBe(3);
  });

  it("has no limit per address where there is none to tell", () => {
    const table = new HalfOpenSockets({ maxPerKey: 1, maxTotal: 3 });
    const [first, ...rest] = [socket(null), socket(null), socket(null), socket(null)];
    expect(table.add(first ?? socket(null))).toBeNull();
    expect(rest.map((each) => table.add(each))).toEqual([null, null, first]);
  });

  it("makes one that is added again the youngest, and forgets one that is taken out", () => {
    const table = new HalfOpenSockets({ maxPerKey: 2, maxTotal: 10 });
    const [one, two, three] = [socket("a"), socket("a"), socket("a")];
    table.add(one);
    table.add(two);
    expect(table.add(one)).toBeNull();
    expect(table.add(three)).toBe(two);
    table.delete(one);
    table.delete(one);
    expect(table.size).toBe(1);
  });
});

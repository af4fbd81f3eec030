import { describe, expect, it } from "vitest";
import { HalfOpenSockets } from "../../../src/gateway/half-open.ts";

const socket = (halfOpenKey: string | null) => ({ halfOpenKey });
const many = (key: string | null, count: number) => Array.from({ length: count }, () => socket(key));

describe("HalfOpenSockets", () => {
  const limits = { maxPerKey: 2, maxBurstPerKey: 2, maxTotal: 3, youngMs: 100 };

  it("evicts the oldest of the same address first, then the oldest of all", () => {
    const table = new HalfOpenSockets(limits);
    const [a1, a2, a3, b1, c1] = [socket("a"), socket("a"), socket("a"), socket("b"), socket("c")];
    expect([table.add(a1, 0), table.add(a2, 0), table.add(a3, 0)]).toEqual([null, null, a1]);
    expect(table.add(b1, 0)).toBeNull();
    expect(table.add(c1, 0)).toBe(a2);
    expect(table.size).toBe(3);
  });

  it("has no limit per address where there is none to tell", () => {
    const table = new HalfOpenSockets({ ...limits, maxPerKey: 1, maxBurstPerKey: 1 });
    const [first, ...rest] = many(null, 4);
    expect(table.add(first ?? socket(null), 0)).toBeNull();
    expect(rest.map((each) => table.add(each, 0))).toEqual([null, null, first]);
  });

  it("makes one that is added again the youngest, and forgets one that is taken out", () => {
    const table = new HalfOpenSockets({ ...limits, maxTotal: 10 });
    const [one, two, three] = [socket("a"), socket("a"), socket("a")];
    table.add(one, 0);
    table.add(two, 0);
    expect(table.add(one, 0)).toBeNull();
    expect(table.add(three, 0)).toBe(two);
    table.delete(one);
    table.delete(one);
    expect(table.size).toBe(1);
  });

  describe("a burst of one address", () => {
    const burst = { maxPerKey: 2, maxBurstPerKey: 5, maxTotal: 7, youngMs: 100 };

    it("is let be while it is young, up to its own bound, and is trimmed to what an address may have", () => {
      const table = new HalfOpenSockets(burst);
      const all = many("a", 6);
      expect(all.map((each) => table.add(each, 0))).toEqual([null, null, null, null, null, all[0]]);
      expect(table.trim(99)).toEqual([]);
      expect(table.trim(100)).toEqual(all.slice(1, 4));
      expect(table.size).toBe(2);
      expect(table.trim(1_000)).toEqual([]);
    });

    it("loses one at a time to those that come when it is not young any more", () => {
      const table = new HalfOpenSockets(burst);
      const [a1, a2, a3] = [socket("a"), socket("a"), socket("a")];
      table.add(a1, 0);
      table.add(a2, 0);
      expect(table.add(a3, 100)).toBe(a1);
    });

    it("is trimmed no further when some of it were served meanwhile", () => {
      const table = new HalfOpenSockets(burst);
      const all = many("a", 4);
      for (const each of all) table.add(each, 0);
      for (const each of all.slice(0, 2)) table.delete(each);
      expect(table.trim(1_000)).toEqual([]);
    });

    it("costs nobody else a place: when the table is full, its own oldest go first", () => {
      const table = new HalfOpenSockets(burst);
      const other = socket("b");
      table.add(other, 0);
      const flood = many("a", 20);
      for (const each of flood) expect(table.add(each, 1)).not.toBe(other);
      const late = ["c", "d", "e"].map((key) => table.add(socket(key), 2));
      expect(late[0]).toBeNull();
      expect(flood).toContain(late[1]);
      expect(flood).toContain(late[2]);
      expect(table.size).toBe(7);
    });
  });
});

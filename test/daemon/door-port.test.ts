import { describe, expect, it } from "vitest";
import { doorPortCandidates, ephemeralRange } from "../../src/daemon/door-port.ts";

const linux = { first: 32_768, last: 60_999 };
const none = new Set<number>();

describe("doorPortCandidates", () => {
  it("begins with the port that the provider had", () => {
    const ports = doorPortCandidates({ kept: 20_417, taken: none, ephemeral: linux, count: 5 });
    expect(ports[0]).toBe(20_417);
    expect(ports).toHaveLength(5);
  });

  it("gives ports outside the range of outgoing connections, wherever that lies", () => {
    for (const ephemeral of [linux, { first: 1_024, last: 9_000 }, { first: 15_000, last: 65_000 }]) {
      const ports = doorPortCandidates({ kept: undefined, taken: none, ephemeral, count: 20 });
      expect(ports).toHaveLength(20);
      for (const port of ports) expect(port < ephemeral.first || port > ephemeral.last).toBe(true);
    }
  });

  it("passes over ports of other doors, the kept one too", () => {
    const taken = new Set([20_000, 20_001]);
    let next = 0;
    const ports = doorPortCandidates({ kept: 20_001, taken, ephemeral: linux, count: 2 }, () => next++);
    expect(ports).toEqual([20_002, 20_003]);
  });

  it("ends also where the system leaves no port outside the range", () => {
    const everything = { first: 1, last: 65_535 };
    expect(doorPortCandidates({ kept: undefined, taken: none, ephemeral: everything, count: 3 })).toEqual([]);
  });
});

describe("ephemeralRange", () => {
  it("is a range", async () => {
    const { first, last } = await ephemeralRange();
    expect(first).toBeLessThan(last);
  });
});

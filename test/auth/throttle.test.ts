import { describe, expect, it } from "vitest";
import { FixedWindow } from "../../src/auth/fixed-window.ts";
import { createThrottle, type UnverifiedCaller } from "../../src/auth/throttle.ts";

function caller(address: string | null, change: Partial<UnverifiedCaller> = {}): UnverifiedCaller {
  return { door: "main", requestClass: "remote", address, ...change };
}

/** How often `take` answers 0 in `times` calls. */
function admitted(times: number, take: (index: number) => number): number {
  let count = 0;
  for (let index = 0; index < times; index++) if (take(index) === 0) count += 1;
  return count;
}

describe("createThrottle", () => {
  it("lets an address fail 20 times a minute, and says in whole seconds when it may go on", () => {
    const throttle = createThrottle();
    expect(admitted(100, () => throttle.takeFailure(caller("203.0.113.9"), 1_000))).toBe(20);
    expect(throttle.takeFailure(caller("203.0.113.9"), 31_500)).toBe(30);
    expect(throttle.takeFailure(caller("203.0.113.9"), 60_999)).toBe(1);
    expect(throttle.takeFailure(caller("203.0.113.9"), 61_000)).toBe(0);
  });

  it("lets a door as a whole fail 60 times a minute, from however many addresses", () => {
    const throttle = createThrottle();
    expect(
      admitted(1_000, (index) => throttle.takeFailure(caller(`10.0.${index >> 8}.${index & 255}`), 0)),
    ).toBe(60);
    expect(throttle.takeFailure(caller("10.9.9.9", { door: "door-1" }), 0)).toBe(0);
  });

  it("lets one address not use up what the door has for the others", () => {
    const throttle = createThrottle();
    admitted(10_000, () => throttle.takeFailure(caller("203.0.113.9"), 0));
    expect(throttle.takeFailure(caller("203.0.113.10"), 0)).toBe(0);
  });

  it("counts local callers apart from remote ones", () => {
    const throttle = createThrottle();
    admitted(1_000, (index) => throttle.takeFailure(caller(`10.0.0.${index & 255}`), 0));
    expect(throttle.takeFailure(caller("127.0.0.1", { requestClass: "local" }), 0)).toBe(0);
  });

  it("gives public routes 120 requests a minute per address, and 6,000 to all at a blind door together", () => {
    const throttle = createThrottle();
    expect(admitted(200, () => throttle.takePublic(caller("203.0.113.9"), 0))).toBe(120);
    expect(throttle.takePublic(caller("203.0.113.10"), 0)).toBe(0);
    expect(admitted(7_000, () => throttle.takePublic(caller(null, { door: "ssh" }), 0))).toBe(6_000);
  });

  it("gives the files of a page a budget of their own, ten times as large", () => {
    const throttle = createThrottle();
    admitted(200, () => throttle.takePublic(caller("203.0.113.9"), 0));
    expect(admitted(2_000, () => throttle.takePageFile(caller("203.0.113.9"), 0))).toBe(1_200);
    expect(admitted(70_000, () => throttle.takePageFile(caller(null, { door: "ssh" }), 0))).toBe(60_000);
  });

  it("keeps failures and public requests apart", () => {
    const throttle = createThrottle();
    admitted(100, () => throttle.takeFailure(caller("203.0.113.9"), 0));
    expect(throttle.takePublic(caller("203.0.113.9"), 0)).toBe(0);
  });
});

describe("FixedWindow", () => {
  it("holds as many keys as it may, whatever a flood of addresses does", () => {
    const table = new FixedWindow({ maxKeys: 100, windowMs: 60_000 });
    for (let index = 0; index < 10_000; index++) table.count(`k${index}`, index);
    expect(table.size).toBe(100);
    expect(table.waitMs("k9999", 1, 10_000)).toBeGreaterThan(0);
    expect(table.waitMs("k1", 1, 10_000)).toBe(0);
  });
});

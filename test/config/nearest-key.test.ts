import { describe, expect, it } from "vitest";
import { editDistance, nearestKey } from "../../src/config/nearest-key.ts";

describe("editDistance", () => {
  it.each([
    ["port", "port", 0],
    ["prot", "port", 1],
    ["hots", "hosts", 1],
    ["", "abc", 3],
    ["abc", "", 3],
    ["deny", "allow", 5],
  ])("of %j and %j is %i", (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
  });
});

describe("nearestKey", () => {
  const known = ["port", "host", "hosts", "origins", "trusted_proxies"];
  it.each([
    ["Host", "host"],
    ["trustedproxies", "trusted_proxies"],
    ["trusted-proxies", "trusted_proxies"],
    ["x", null],
    ["completely", null],
    ["p".repeat(100_000), null],
  ])("finds for %j the key %j", (wrong, near) => {
    expect(nearestKey(wrong, known)).toBe(near);
  });
});

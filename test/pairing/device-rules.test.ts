import { describe, expect, it } from "vitest";
import { grantRefusal, patchRefusal, revokeRefusal } from "../../src/pairing/device-rules.ts";
import type { Scope } from "../../src/protocol/scopes.ts";
import { fakeLease } from "./fakes.ts";

const me = "me";
const deviceWith = (scopes: readonly Scope[]) =>
  fakeLease({ principal: { kind: "device", device: me }, scopes }).lease;
const master = fakeLease().lease;
const all: readonly Scope[] = ["view", "drive", "approve", "admin"];

describe("grantRefusal", () => {
  it.each([
    [["admin"], ["admin"], true],
    [["view", "admin"], ["view"], true],
    [["view", "admin"], ["view", "drive"], false],
    [["view", "admin"], all, false],
    [["view", "drive", "approve"], ["view"], false],
    [[], ["view"], false],
    [all, all, true],
  ] as const)("holding %j, giving %j: %s", (held, given, allowed) => {
    expect(grantRefusal(deviceWith(held), given)?.code ?? "allowed").toBe(
      allowed ? "allowed" : "scope_missing",
    );
  });
});

describe("patchRefusal", () => {
  it.each([
    ["own name without admin", ["view"], me, ["view"], { name: "x" }, true],
    ["another's name without admin", ["view", "drive", "approve"], "other", ["view"], { name: "x" }, false],
    ["another's name with admin", ["admin"], "other", all, { name: "x" }, true],
    ["own scopes up without admin", ["view"], me, ["view"], { scopes: all }, false],
    ["own scopes down without admin", ["view", "drive"], me, ["view", "drive"], { scopes: ["view"] }, false],
    ["own scopes up with admin", ["view", "admin"], me, ["view", "admin"], { scopes: all }, false],
    ["own scopes down with admin", ["view", "admin"], me, ["view", "admin"], { scopes: ["view"] }, true],
    [
      "another up to what the caller holds",
      ["drive", "admin"],
      "other",
      ["view"],
      { scopes: ["view", "drive"] },
      true,
    ],
    [
      "another up beyond the caller",
      ["view", "admin"],
      "other",
      ["view"],
      { scopes: ["view", "approve"] },
      false,
    ],
    ["another down, keeping what the caller lacks", ["admin"], "other", all, { scopes: ["view"] }, true],
    ["another's scopes the same, without admin", ["view"], "other", ["view"], { scopes: ["view"] }, false],
    [
      "own name and scopes up at once",
      ["view"],
      me,
      ["view"],
      { name: "x", scopes: ["view", "admin"] },
      false,
    ],
  ] as const)("%s", (_, held, id, targetScopes, patch, allowed) => {
    const target = { id, scopes: new Set<Scope>(targetScopes) };
    expect(patchRefusal(deviceWith(held), target, patch)?.code ?? "allowed").toBe(
      allowed ? "allowed" : "scope_missing",
    );
  });

  it("lets the master change everything", () => {
    expect(patchRefusal(master, { id: me, scopes: new Set() }, { name: "x", scopes: all })).toBeNull();
  });
});

describe("revokeRefusal", () => {
  it.each([
    [["view"], me, true],
    [[], me, true],
    [["view", "drive", "approve"], "other", false],
    [["admin"], "other", true],
  ] as const)("holding %j, revoking %s: %s", (held, target, allowed) => {
    expect(revokeRefusal(deviceWith(held), target)?.code ?? "allowed").toBe(
      allowed ? "allowed" : "scope_missing",
    );
  });
});

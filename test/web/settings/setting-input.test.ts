import { describe, expect, it } from "vitest";
import type { Setting } from "../../../src/protocol/rest-objects.ts";
import { groupSettings } from "../../../web/settings/setting-groups.ts";
import {
  inputKind,
  rangeText,
  readTyped,
  shownValue,
  typedValue,
} from "../../../web/settings/setting-input.ts";

describe("the input of a setting", () => {
  it.each([
    [{ type: "integer", minimum: 0 }, "number"],
    [{ type: "boolean" }, "flag"],
    [{ type: "string", maxLength: 9 }, "text"],
    [{ type: "array", items: { type: "string" } }, "lines"],
    [{ type: "array", items: { type: "object" } }, null],
    [{ anyOf: [] }, null],
    [{}, null],
    [null, null],
  ])("for the schema %o is %s", (schema, kind) => expect(inputKind(schema)).toBe(kind));

  it.each([
    ["number", "60", { ok: true, value: 60 }],
    ["number", " -1 ", { ok: true, value: -1 }],
    ["number", "1.5", { ok: false, problem: "Write a whole number." }],
    ["number", "1e9", { ok: false, problem: "Write a whole number." }],
    ["number", "99999999999999999999", { ok: false, problem: "Write a whole number." }],
    ["number", "", { ok: true, value: null }],
    ["text", " a b ", { ok: true, value: "a b" }],
    ["lines", "a\n\n b \n", { ok: true, value: ["a", "b"] }],
    ["flag", "true", { ok: true, value: true }],
    ["flag", "false", { ok: true, value: false }],
  ] as const)("reads a %s from %j", (kind, typed, read) => expect(readTyped(kind, typed)).toEqual(read));

  it("types a value so that reading it again gives the same value", () => {
    expect(readTyped("lines", typedValue(["a", "b"]))).toEqual({ ok: true, value: ["a", "b"] });
    expect(readTyped("number", typedValue(7))).toEqual({ ok: true, value: 7 });
  });

  it("says the bounds that there are", () => {
    expect(rangeText({ minimum: 0, maximum: 10 })).toBe("from 0 to 10");
    expect(rangeText({ minimum: -1 })).toBe("from -1");
    expect(rangeText({})).toBe("");
  });

  it("never shows a secret, whatever came as its value", () => {
    expect(shownValue({ value: "leaked", secret: true, present: true })).toBe("set (not shown)");
    expect(shownValue({ value: null, secret: true, present: false })).toBe("not set");
    expect(shownValue({ value: ["a", "b"], secret: false, present: true })).toBe("a, b");
    expect(shownValue({ value: [], secret: false, present: true })).toBe("none");
    expect(shownValue({ value: false, secret: false, present: true })).toBe("no");
  });
});

describe("groupSettings", () => {
  it("puts settings under the table of the file that they are in", () => {
    const keys = ["port", "daemon.idle_minutes", "host", "door", "agents.qwen.command", "agents.qwen.env.X"];
    const settings = keys.map((key) => ({ key }) as Setting);
    expect(groupSettings(settings).map(({ title, settings: list }) => [title, list.length])).toEqual([
      ["The daemon's address", 2],
      ["Daemon", 1],
      ["Doors", 1],
      ["Agents", 2],
    ]);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sessionRule, shownCall } from "../../../web/approvals/call-shown.ts";
import { request } from "./samples.ts";

describe("shownCall", () => {
  it("shows a command whole, in its lines", () => {
    expect(shownCall(request({ input: { command: "a\n\tb" } }))).toEqual({
      title: "Run this command?",
      parts: [{ label: null, text: "a\n\tb" }],
    });
  });

  it("writes out what hides", () => {
    const { parts } = shownCall(
      request({ input: { command: "ls \u202egnp.sh\u0007", "x\u200b": "a\n\u2066" } }),
    );
    expect(parts).toEqual([
      { label: null, text: "ls ⟨U+202E⟩gnp.sh⟨U+0007⟩" },
      { label: "x⟨U+200B⟩", text: "a\n⟨U+2066⟩" },
    ]);
  });

  it("shows the path first, then texts in their own lines, then everything else of the input", () => {
    const input = { path: "a.ts", old_string: "x\ny", new_string: "z", all: true };
    expect(shownCall(request({ tool: "edit", input }))).toEqual({
      title: "Change this file?",
      parts: [
        { label: null, text: "a.ts" },
        { label: "old_string", text: "x\ny" },
        { label: "more", text: '{\n  "new_string": "z",\n  "all": true\n}' },
      ],
    });
  });

  it.each([
    ["a list", ["x"], '[\n  "x"\n]'],
    ["a text", "x", '"x"'],
    ["null", null, "null"],
    ["numbers for a command", { command: 3 }, '{\n  "command": 3\n}'],
  ])("shows an input that is %s as it is", (_name, input, text) => {
    expect(shownCall(request({ tool: "db", input }))).toEqual({
      title: "Use db?",
      parts: [{ label: null, text }],
    });
  });

  it("leaves nothing of any input out", () => {
    const plain = fc.string({ unit: fc.constantFrom(..."abc019 _-./\n"), maxLength: 90 });
    fc.assert(
      fc.property(fc.dictionary(plain, fc.oneof(plain, fc.integer(), fc.array(plain))), (input) => {
        const all = shownCall(request({ input })).parts.map(({ text }) => text);
        for (const value of Object.values(input).flat()) {
          const texts = [String(value), JSON.stringify(String(value)).slice(1, -1)];
          expect(all.some((text) => texts.some((each) => text.includes(each)))).toBe(true);
        }
      }),
    );
  });
});

describe("sessionRule", () => {
  it.each([
    ["exactly the line", "bash(ls)", { rule: "bash(ls)", isExact: true }],
    ["a whole program", "bash(ls *)", { rule: "bash(ls *)", isExact: false }],
    ["nothing", null, null],
  ])("tells that a rule reaches %s", (_name, allow_session, expected) => {
    expect(sessionRule(request({ allow_session }))).toEqual(expected);
  });
});

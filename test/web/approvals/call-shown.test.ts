import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sessionRule, shownCall } from "../../../web/approvals/call-shown.ts";
import { request } from "./samples.ts";

describe("shownCall", () => {
  it("shows a command whole, in its lines", () => {
    expect(shownCall(request({ input: { command: "a\n\tb" } }))).toEqual({
      title: "Run this command?",
      subject: "a\n\tb",
      rest: "",
    });
  });

  it("writes out what hides", () => {
    const { subject } = shownCall(request({ input: { command: "ls \u202egnp.sh\u0007" } }));
    expect(subject).toBe("ls ⟨U+202E⟩gnp.sh⟨U+0007⟩");
  });

  it("shows the path first and everything else of the input behind it", () => {
    const input = { path: "a.ts", old_string: "x", new_string: "y" };
    expect(shownCall(request({ tool: "edit", input }))).toEqual({
      title: "Change this file?",
      subject: "a.ts",
      rest: '{\n  "old_string": "x",\n  "new_string": "y"\n}',
    });
  });

  it.each([
    ["a list", ["x"], '[\n  "x"\n]'],
    ["a text", "x", '"x"'],
    ["null", null, "null"],
    ["numbers for a command", { command: 3 }, '{\n  "command": 3\n}'],
  ])("shows an input that is %s as it is", (_name, input, subject) => {
    expect(shownCall(request({ tool: "db", input }))).toEqual({ title: "Use db?", subject, rest: "" });
  });

  it("leaves nothing of any input out", () => {
    const plain = fc.string({ unit: fc.constantFrom(..."abc019 _-./") });
    fc.assert(
      fc.property(fc.dictionary(plain, fc.oneof(plain, fc.integer(), fc.array(plain))), (input) => {
        const { subject, rest } = shownCall(request({ input }));
        const all = subject + rest;
        for (const value of Object.values(input).flat()) expect(all).toContain(String(value));
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

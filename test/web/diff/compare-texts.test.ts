import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareTexts } from "../../../web/diff/compare-texts.ts";

const marks = { same: " ", added: "+", removed: "-", gap: "…", note: "!" } as const;
const shown = (before: string, after: string): string[] =>
  compareTexts(before, after).rows.map(({ kind, text }) => marks[kind] + text);

describe("compareTexts", () => {
  it("shows what changed with the lines around it", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    expect(shown(before, before.replace("5", "five"))).toEqual([
      "…",
      " 2",
      " 3",
      " 4",
      "-5",
      "+five",
      " 6",
      " 7",
      " 8",
    ]);
  });

  it("numbers both sides", () => {
    const { rows } = compareTexts("a\nb\n", "x\na\nb\n");
    expect(rows).toEqual([
      { kind: "added", old: null, new: 1, text: "x" },
      { kind: "same", old: 1, new: 2, text: "a" },
      { kind: "same", old: 2, new: 3, text: "b" },
    ]);
  });

  it.each([
    ["", "", []],
    ["a", "a", []],
    ["", "a\n", ["+a"]],
    ["a\n", "", ["-a"]],
    ["a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n", ["-a", "-b", " c", "+b", " a", " b", "-b", " a", "+c"]],
  ])("compares %j with %j", (before, after, expected) => {
    expect(shown(before, after)).toEqual(expected);
  });

  it("turns the one text into the other, whatever they are", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        // Without gaps: every line gets a neighbour that changed.
        const wide = (lines: string[], mark: string): string =>
          lines.map((line) => `${line}\n${mark}\n`).join("");
        const { rows } = compareTexts(wide(before, "old"), wide(after, "new"), 10_000);
        if (rows.some(({ kind }) => kind === "gap")) return;
        const side = (kind: string): string[] =>
          rows.filter((row) => row.kind === "same" || row.kind === kind).map(({ text: line }) => line);
        expect(side("removed")).toEqual(before.flatMap((line) => [line, "old"]));
        expect(side("added")).toEqual(after.flatMap((line) => [line, "new"]));
      }),
    );
  });

  it("is bounded: two large texts without a common line show as replaced", () => {
    const before = Array.from({ length: 9_000 }, (_, i) => `old ${i}`).join("\n");
    const after = Array.from({ length: 9_000 }, (_, i) => `new ${i}`).join("\n");
    expect(compareTexts(before, after)).toMatchObject({ added: 9_000, removed: 9_000, omitted: 17_000 });
  });
});

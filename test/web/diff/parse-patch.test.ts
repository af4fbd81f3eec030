import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePatch } from "../../../web/diff/parse-patch.ts";

const shown = (patch: string, maxRows?: number): string[] =>
  parsePatch(patch, maxRows).rows.map((row) => `${row.kind} ${row.old ?? "-"} ${row.new ?? "-"} ${row.text}`);

describe("parsePatch", () => {
  it("numbers the lines of each hunk", () => {
    expect(shown("@@ -10,3 +10,3 @@ function f() {\n a\n-b\n+c\n d\n")).toEqual([
      "gap - - function f() {",
      "same 10 10 a",
      "removed 11 - b",
      "added - 11 c",
      "same 12 12 d",
    ]);
  });

  it("leaves out file headers, and shows what fits nowhere as a note", () => {
    const patch =
      "diff --git a/x b/x\nindex 12..34\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\\ No newline\nwhat\n";
    expect(shown(patch)).toEqual([
      "gap - - ",
      "removed 1 - a",
      "added - 1 b",
      "note - - \\ No newline",
      "note - - what",
    ]);
  });

  it("takes lines that look like headers for what they are inside a hunk", () => {
    expect(shown("@@ -1,2 +1,1 @@\n--- a\n-@@ -1 +1 @@\n+++ b\n")).toEqual([
      "gap - - ",
      "removed 1 - -- a",
      "removed 2 - @@ -1 +1 @@",
      "added - 1 ++ b",
    ]);
  });

  it("reads lines of Windows, and an empty line whose space an editor has taken", () => {
    expect(shown("@@ -1,2 +1,3 @@\r\n a\r\n\r\n+b\r\n")).toEqual([
      "gap - - ",
      "same 1 1 a",
      "same 2 2 ",
      "added - 3 b",
    ]);
  });

  it("shows at most so many rows and counts the rest", () => {
    const patch = `@@ -0,0 +1,5000 @@\n${"+x\n".repeat(5_000)}`;
    const diff = parsePatch(patch, 10);
    expect(diff.rows).toHaveLength(10);
    expect(diff).toMatchObject({ added: 5_000, removed: 0, omitted: 4_991 });
  });

  it("keeps every line of any text", () => {
    const line = fc.constantFrom(
      "@@ -1,2 +1,2 @@",
      "+a",
      "-b",
      " c",
      "",
      "junk",
      "\\ No newline at end of file",
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        expect(parsePatch(lines.map((each) => `${each}\n`).join("")).rows).toHaveLength(lines.length);
      }),
    );
  });
});

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundedDiff, unifiedDiff } from "../../src/lib/unified-diff.ts";

describe("unifiedDiff", () => {
  it.each([
    ["the same text", "a\n", "a\n", ""],
    ["a new file", null, "a\n", "--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n"],
    ["an emptied file", "a\n", "", "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-a\n"],
    [
      "a line in the middle",
      "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
      "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
      "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
    ],
    [
      "a line end that is missing",
      "a",
      "a\n",
      "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n",
    ],
  ])("writes %s as patch(1) reads it", (_what, before, after, patch) => {
    expect(unifiedDiff("f", before, after)).toBe(patch);
  });

  it("keeps a path with a line break in the header's one line", () => {
    expect(unifiedDiff("a\n+++ b", null, "x\n").split("\n")[1]).toBe("+++ a +++ b");
  });

  it("gives patches that git applies, whatever the texts are", () => {
    const folder = mkdtempSync(join(tmpdir(), "sallyport-diff-"));
    const line = fc.constantFrom("a", "b", "c", "{", "}", "");
    const text = fc
      .tuple(fc.array(line, { maxLength: 40 }), fc.boolean())
      .map(([lines, end]) => lines.join("\n") + (end && lines.length > 0 ? "\n" : ""));
    try {
      fc.assert(
        fc.property(text, text, (before, after) => {
          fc.pre(before !== "" && after !== "");
          const patch = unifiedDiff("f", before, after);
          writeFileSync(join(folder, "f"), before);
          if (patch !== "")
            execFileSync("git", ["apply", "-p0", "--unidiff-zero", "-"], {
              cwd: folder,
              input: patch,
              stdio: ["pipe", "ignore", "pipe"],
            });
          expect(readFileSync(join(folder, "f"), "utf8")).toBe(after);
        }),
        { numRuns: 60 },
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("shows a text that changed wholly as replaced, in time", () => {
    const before = Array.from({ length: 20_000 }, (_each, index) => `old ${index}\n`).join("");
    const after = Array.from({ length: 20_000 }, (_each, index) => `new ${index}\n`).join("");
    const patch = unifiedDiff("f", before, after);
    expect(patch).toContain("@@ -1,20000 +1,20000 @@");
  });

  it("finds few changes far apart in a text of many lines, in time", () => {
    const lines = Array.from({ length: 400_000 }, (_each, index) => String(index));
    const changed = lines.map((line, index) => (index % 1_600 === 0 ? `${line}x` : line));
    expect(unifiedDiff("f", lines.join("\n"), changed.join("\n")).match(/^@@/gm)).toHaveLength(250);
  });

  it("says so where its bound cuts something off, in the middle of a line too", () => {
    const after = Array.from({ length: 100 }, (_each, index) => `line ${index}\n`).join("");
    expect(boundedDiff("f", null, after, 100_000)).toEqual({
      patch: unifiedDiff("f", null, after),
      isWhole: true,
    });
    const cut = boundedDiff("f", null, after, 100);
    expect(cut.isWhole).toBe(false);
    expect(cut.patch).toMatch(/^\+line 0$/m);
    expect(cut.patch).toMatch(/\n\\ Not shown from here on: \d+ changed lines\n$/);
    expect(cut.patch.length).toBeLessThan(200);
    const one = boundedDiff("f", null, "\u{1f600}".repeat(1_000), 101);
    expect(one.isWhole).toBe(false);
    expect(one.patch).not.toMatch(/\p{Surrogate}/u);
    expect(one.patch).toContain("Not shown from here on: 1 changed lines");
  });
});

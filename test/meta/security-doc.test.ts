import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readRepoFile, repoRoot } from "./sources.ts";

const section = readRepoFile("SECURITY.md").split("## Guarantees")[1]?.split("\n## ")[0] ?? "";
const rows = section
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| guarantee"))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, guarantee = "", file = "", test = ""]) => ({
    guarantee,
    file: file.replaceAll("`", ""),
    test: test.replaceAll("`", ""),
  }));

describe("the guarantees of SECURITY.md", () => {
  it("are a table of some length", () => {
    expect(rows.length).toBeGreaterThan(20);
  });

  it.each(rows)("name a file and a test that exist: $guarantee", ({ file, test }) => {
    expect(file).toMatch(/^(?:src|web)\/.+\.tsx?$/);
    expect(existsSync(join(repoRoot, file)), file).toBe(true);
    expect(test).toMatch(/^test\/.+\.test\.ts$/);
    expect(existsSync(join(repoRoot, test)), test).toBe(true);
  });

  it.each(rows)("have tests that assert something: $guarantee", ({ test }) => {
    expect(readRepoFile(test)).toMatch(/\bexpect\(/);
  });
});

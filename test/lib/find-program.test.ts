import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findProgram } from "../../src/lib/find-program.ts";

describe("findProgram", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sallyport-path-"));
    await mkdir(join(folder, "a", "tool"), { recursive: true });
    await mkdir(join(folder, "b"));
    await mkdir(join(folder, "c"));
    await writeFile(join(folder, "b", "tool"), "", { mode: 0o644 });
    await writeFile(join(folder, "c", "tool"), "");
    await chmod(join(folder, "c", "tool"), 0o755);
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("takes the first file that can be run, and looks in no relative folder", () => {
    const searchPath = ["", ".", `${folder}/a`, `${folder}/b`, `${folder}/c`].join(":");
    expect(findProgram("tool", searchPath)).toBe(join(folder, "c", "tool"));
    expect(findProgram("other", searchPath)).toBeNull();
    expect(findProgram("tool", undefined)).toBeNull();
  });

  it("takes a path as it is, if it is absolute and a file that can be run", () => {
    const tool = join(folder, "c", "tool");
    expect(findProgram(tool, undefined)).toBe(tool);
    expect(findProgram(join(folder, "b", "tool"), join(folder, "c"))).toBeNull();
    expect(findProgram(folder, undefined)).toBeNull();
    expect(findProgram("c/tool", folder)).toBeNull();
    expect(findProgram("", folder)).toBeNull();
  });
});

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nearestIsWithin } from "../../../src/engine/files/nearest-within.ts";
import { openForAgent } from "../../../src/engine/files/open-for-agent.ts";
import { resolveFolder } from "../../../src/engine/files/resolve-folder.ts";
import type { SallyportError } from "../../../src/errors.ts";

let base = "";
let root = "";
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-within-")));
  root = join(base, "root");
  mkdirSync(join(root, "sub"), { recursive: true });
  mkdirSync(join(base, "outside", "deep"), { recursive: true });
  mkdirSync(join(base, "home"));
  writeFileSync(join(base, "outside", "file"), "x");
  writeFileSync(join(root, "file"), "x");
  symlinkSync(join(base, "outside"), join(root, "out"));
  symlinkSync(join(base, "outside", "none"), join(root, "dangling"));
  symlinkSync("sub", join(root, "in"));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe("nearestIsWithin", () => {
  it.each([
    ["none", true],
    ["sub/none/deeper", true],
    ["file", true],
    ["file/x", true],
    ["in/none", true],
    ["out", false],
    ["out/none", false],
    ["dangling", false],
    ["../outside/none", false],
    ["../none", false],
    ["../../../../none", false],
  ])("root/%s: %s", async (path, expected) => {
    expect(await nearestIsWithin(`${root}/${path}`, root)).toBe(expected);
  });
  it("is false where the root itself is gone", async () => {
    expect(await nearestIsWithin(join(root, "x"), join(base, "no-root"))).toBe(false);
  });
});

describe("asking for paths outside the browse root", () => {
  const outside = [
    "outside",
    "outside/deep",
    "outside/file",
    "outside/none",
    "none",
    "home",
    "root/out/none",
  ];
  const told = (error: SallyportError) => [error.code, error.status, error.message, error.field];

  it("folders: what exists, what does not and what is a file get one answer", async () => {
    const limits = { homeFolder: join(base, "home"), userHome: base, browseRoot: root };
    const answers = await Promise.all(
      outside.map((path) => resolveFolder(join(base, path), limits).then(() => "opened", told)),
    );
    expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(answers[0]).toMatchObject(["path_refused", 403, expect.any(String), "cwd"]);
    await expect(resolveFolder(join(root, "none"), limits)).rejects.toMatchObject({ code: "invalid_field" });
  });

  it("files: what exists, what does not and what is a folder get one answer", async () => {
    const limits = { homeFolder: join(base, "home"), browseRoot: root };
    const answers = await Promise.all(
      outside.map((path) => openForAgent(join(base, path), limits).then(() => "opened", told)),
    );
    expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(answers[0]).toMatchObject(["path_refused", 403, expect.any(String), "path"]);
    await expect(openForAgent(join(root, "none"), limits)).rejects.toMatchObject({ code: "not_found" });
  });
});

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FolderLimits, resolveFolder } from "../../../src/engine/files/resolve-folder.ts";

let user = "";
let limits: FolderLimits = { homeFolder: "", userHome: "", browseRoot: null };

beforeAll(() => {
  user = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-folder-")));
  mkdirSync(join(user, ".sallyport", "jobs"), { recursive: true });
  mkdirSync(join(user, "project", "sub"), { recursive: true });
  writeFileSync(join(user, "project", "file"), "");
  symlinkSync("project", join(user, "link"));
  symlinkSync(join(user, ".sallyport"), join(user, "project", "evil"));
  symlinkSync("nowhere", join(user, "dangling"));
  limits = { homeFolder: join(user, ".sallyport"), userHome: user, browseRoot: null };
});
afterAll(() => rmSync(user, { recursive: true, force: true }));

describe("resolveFolder", () => {
  it.each([
    ["~", ""],
    ["~/", ""],
    ["~/project", "project"],
    ["~/link/sub", "project/sub"],
    ["~/project/../project/./sub/", "project/sub"],
  ])("resolves %j", async (path, expected) => {
    expect(await resolveFolder(path, limits)).toBe(join(user, expected));
  });
  it("resolves an absolute path", async () => {
    expect(await resolveFolder(join(user, "link"), limits)).toBe(join(user, "project"));
  });

  it.each([
    "",
    "project",
    "./project",
    "~root",
    "~root/x",
    "~/none",
    "~/project/file",
    "~/dangling",
    "/a\0b",
    `/${"x".repeat(5_000)}`,
  ])("refuses %j as a field", async (path) => {
    await expect(resolveFolder(path, limits)).rejects.toMatchObject({ code: "invalid_field", field: "cwd" });
  });
  it.each([
    "~/.sallyport",
    "~/.sallyport/jobs",
    "~/project/evil",
    "~/project/evil/jobs",
    "~/project/../.sallyport",
  ])("refuses %j: it is the home", async (path) => {
    await expect(resolveFolder(path, limits)).rejects.toMatchObject({ code: "path_refused", field: "cwd" });
  });
  it("stays below the browse root, which itself is allowed", async () => {
    const bounded = { ...limits, browseRoot: join(user, "project") };
    expect(await resolveFolder("~/project", bounded)).toBe(join(user, "project"));
    expect(await resolveFolder("~/project/sub", bounded)).toBe(join(user, "project", "sub"));
    await expect(resolveFolder("~", bounded)).rejects.toMatchObject({ code: "path_refused" });
  });
});

import { execFileSync } from "node:child_process";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFileExclusive, writeFileAtomic } from "../../src/lib/atomic-file.ts";

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "sallyport-atomic-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function pipe(): Promise<string> {
  const path = join(await folder(), "pipe");
  execFileSync("mkfifo", [path]);
  return path;
}

describe("writeFileAtomic", () => {
  it("replaces the content, makes it private and leaves nothing beside it", async () => {
    const home = await folder();
    const path = join(home, "devices.json");
    await writeFile(path, "old");
    await chmod(path, 0o644);
    await writeFileAtomic(path, "new");
    expect(await readFile(path, "utf8")).toBe("new");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(home)).toEqual(["devices.json"]);
  });

  it.each([
    ["a pipe", pipe],
    ["a folder", folder],
    ["nothing", async () => join(await folder(), "gone")],
  ])("refuses to write through a link that leads to %s, and leaves both as they are", async (_what, make) => {
    const home = await folder();
    const target = await make();
    await symlink(target, join(home, "link"));
    await expect(writeFileAtomic(join(home, "link"), "new")).rejects.toThrow(/not a regular file|ENOENT/);
    expect(await readdir(home)).toEqual(["link"]);
    expect(await readlink(join(home, "link"))).toBe(target);
  });

  it("writes through a link and keeps it a link", async () => {
    const home = await folder();
    await mkdir(join(home, "real"));
    await writeFile(join(home, "real", "file"), "old");
    await symlink(join(home, "real", "file"), join(home, "link"));
    await writeFileAtomic(join(home, "link"), "new");
    expect(await readlink(join(home, "link"))).toBe(join(home, "real", "file"));
    expect(await readFile(join(home, "real", "file"), "utf8")).toBe("new");
  });

  it("refused: leaves no temporary file, however often it is retried", async () => {
    const home = await folder();
    const path = join(home, "devices.json");
    await mkdir(path);
    for (let count = 0; count < 3; count += 1) await expect(writeFileAtomic(path, "new")).rejects.toThrow();
    expect(await readdir(home)).toEqual(["devices.json"]);
  });
});

describe("createFileExclusive", () => {
  it("creates a private file and never touches one that is there", async () => {
    const path = join(await folder(), "daemon.key");
    await createFileExclusive(path, "mine");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await expect(createFileExclusive(path, "yours")).rejects.toMatchObject({ code: "EEXIST" });
    expect(await readFile(path, "utf8")).toBe("mine");
  });
});

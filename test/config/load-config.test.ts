import { chmod, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-config-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("loadConfig", () => {
  it("takes a missing file as the defaults", async () => {
    expect((await loadConfig(join(folder, "config.toml"))).port).toBe(7700);
  });

  it("follows a link to the file", async () => {
    await writeFile(join(folder, "mine.toml"), "port = 9");
    await symlink(join(folder, "mine.toml"), join(folder, "config.toml"));
    expect((await loadConfig(join(folder, "config.toml"))).port).toBe(9);
  });

  it("refuses a link that leads nowhere: the deny rules behind it must not vanish in silence", async () => {
    const path = join(folder, "config.toml");
    await symlink(join(folder, "gone.toml"), path);
    await expect(loadConfig(path)).rejects.toThrow(`${path} is a link that leads nowhere`);
  });

  it("refuses a file that everybody can write: it names programs to run", async () => {
    const path = join(folder, "config.toml");
    await writeFile(path, "port = 9");
    await chmod(path, 0o666);
    await expect(loadConfig(path)).rejects.toThrow(`chmod 600 ${path}`);
  });

  it("refuses a folder in place of the file", async () => {
    await expect(loadConfig(folder)).rejects.toThrow("is not a file");
  });

  it("names the file that is wrong", async () => {
    const path = join(folder, "config.toml");
    await writeFile(path, 'host = ""');
    await expect(loadConfig(path)).rejects.toThrow(`${path} line 1: host is empty`);
  });
});

import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { removeDaemonFile, writeDaemonFile } from "../../src/daemon/daemon-file.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-file-"));
  path = join(folder, "daemon.json");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const fields = {
  port: 7700,
  masterToken: "spm_x&y",
  pid: 4711,
  version: "1.0.0",
  started: "2026-11-30T12:00:00.000Z",
  instance: "one",
};

describe("writeDaemonFile", () => {
  it("writes the fields that clients of the protocol read, for this user only", async () => {
    await writeDaemonFile(path, fields);
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual({
      url: "http://127.0.0.1:7700",
      token: "spm_x&y",
      pid: 4711,
      version: "1.0.0",
      urls: ["http://127.0.0.1:7700/?token=spm_x%26y"],
      started: "2026-11-30T12:00:00.000Z",
      instance: "one",
    });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("replaces a damaged one that was open to others", async () => {
    await writeFile(path, "{{{", { mode: 0o644 });
    await writeDaemonFile(path, fields);
    expect(JSON.parse(await readFile(path, "utf8")).pid).toBe(4711);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });
});

describe("removeDaemonFile", () => {
  it("removes its own", async () => {
    await writeDaemonFile(path, fields);
    await removeDaemonFile(path, "one");
    await expect(stat(path)).rejects.toThrow("ENOENT");
  });

  it("leaves a later daemon's, a damaged one and none alone", async () => {
    await writeDaemonFile(path, { ...fields, instance: "two" });
    await removeDaemonFile(path, "one");
    expect((await stat(path)).isFile()).toBe(true);
    await writeFile(path, "{");
    await removeDaemonFile(path, "one");
    expect(await readFile(path, "utf8")).toBe("{");
    await rm(path);
    await removeDaemonFile(path, "one");
  });
});

import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDaemonLog } from "../../src/daemon/create-log.ts";
import { openLogFile } from "../../src/daemon/log-file.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-log-"));
  path = join(folder, "daemon.log");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("openLogFile", () => {
  it("keeps two files of bounded size, whatever is written", async () => {
    const log = openLogFile({ path, maxBytes: 1_000, maxLinesPerSecond: 1e9, now: () => 0 });
    for (let i = 0; i < 500; i++) log.write(`${i} ${"x".repeat(40)}\n`);
    log.close();
    expect((await readdir(folder)).sort()).toEqual(["daemon.log", "daemon.log.1"]);
    expect((await stat(path)).size).toBeLessThanOrEqual(1_000);
    expect((await stat(`${path}.1`)).size).toBeLessThanOrEqual(1_000);
    expect(await readFile(path, "utf8")).toContain("499 ");
  });

  it("a flood of lines: leaves out what is over the rate and counts it", async () => {
    let now = 5_000;
    const log = openLogFile({ path, maxBytes: 1e6, maxLinesPerSecond: 10, now: () => now });
    for (let i = 0; i < 1_000; i++) log.write("line\n");
    now += 1_000;
    log.write("after\n");
    log.close();
    const lines = (await readFile(path, "utf8")).trim().split("\n");
    expect(lines).toHaveLength(12);
    expect(JSON.parse(lines[10] ?? "")).toMatchObject({ dropped: 990 });
  });

  it("writes 0600, also over a file that was open to others", async () => {
    await writeFile(path, "old\n");
    await chmod(path, 0o644);
    openLogFile({ path, maxBytes: 1e6, maxLinesPerSecond: 10, now: Date.now }).close();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, "utf8")).toBe("old\n");
  });

  it("does not wait for a reader of a pipe in the place of the log", () => {
    execFileSync("mkfifo", [path]);
    expect(() => openLogFile({ path, maxBytes: 1e6, maxLinesPerSecond: 10, now: Date.now })).toThrow(/ENXIO/);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    expect(() => openLogFile({ path, maxBytes: 1e6, maxLinesPerSecond: 10, now: Date.now })).toThrow(
      "is not a regular file",
    );
    closeSync(reader);
  });

  it("does not follow a link in the place of the log", async () => {
    await writeFile(join(folder, "victim"), "");
    await symlink(join(folder, "victim"), path);
    expect(() => openLogFile({ path, maxBytes: 1e6, maxLinesPerSecond: 10, now: Date.now })).toThrow();
  });
});

describe("createDaemonLog", () => {
  it("holds no secret, however it got into a line", async () => {
    const log = createDaemonLog({ path, level: "info", now: Date.now });
    log.protect("my own fixed master token of the user");
    log.info({ header: { authorization: "Bearer abcdefgh" } }, "nested");
    log.warn({ err: new Error("token spd_secretsecret was refused") }, "in an error");
    log.error({ url: "http://127.0.0.1:7700/?token=spm_hunter2" }, "in a URL");
    log.info({ it: "my own fixed master token of the user" }, "fixed");
    log.close();
    const text = await readFile(path, "utf8");
    for (const line of text.trim().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
    expect(text).not.toMatch(/abcdefgh|secretsecret|hunter2|my own fixed/);
  });
});

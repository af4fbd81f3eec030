import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { homePaths } from "../../src/config/home-paths.ts";
import { takeHome } from "../../src/daemon/take-home.ts";
import { readProcessIdentity } from "../../src/lib/process-identity.ts";

let home: string;
let holder: ChildProcess;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "sallyport-take-"));
  holder = spawn(process.execPath, ["-e", "setInterval(() => 1, 1000)"], { stdio: "ignore" });
  await once(holder, "spawn");
  const identity = await readProcessIdentity(holder.pid ?? 0);
  await writeFile(join(home, "daemon.lock.1"), JSON.stringify(identity), { mode: 0o600 });
});
afterEach(async () => {
  if (holder.exitCode === null && holder.signalCode === null) {
    holder.kill("SIGKILL");
    await once(holder, "exit");
  }
  await rm(home, { recursive: true, force: true });
});

const take = (waitMs: number) =>
  takeHome({ paths: homePaths(home), monotonicNow: () => performance.now(), waitMs });

describe("takeHome", () => {
  it("names the process that holds the home without answering, and the next step", async () => {
    await expect(take(0)).rejects.toMatchObject({
      problem: "running",
      pid: holder.pid,
      message: expect.stringContaining("sallyport daemon stop --force"),
    });
  });

  it("waits for one that is on its way out", async () => {
    const taken = take(20_000);
    holder.kill("SIGKILL");
    await expect(taken).resolves.toBeUndefined();
  });

  it("is not misled by the daemon.json of another process", async () => {
    const file = { url: "http://127.0.0.1:1", token: "spm_x", pid: 1, instance: "x" };
    await writeFile(join(home, "daemon.json"), JSON.stringify(file), { mode: 0o600 });
    await expect(take(0)).rejects.toMatchObject({ problem: "running", url: null });
  });
});

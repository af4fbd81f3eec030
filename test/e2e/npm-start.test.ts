import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
let home: string;
let pid: number | null = null;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "sallyport-npm-start-"));
});
afterEach(async () => {
  if (pid !== null && isAlive(pid)) process.kill(pid, "SIGKILL");
  await rm(home, { recursive: true, force: true });
});

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    return false;
  }
}

describe("npm start", () => {
  it("ends with the shell that npm runs it in", async () => {
    // npm's own shell does not become the program either, and dies of the signal that npm hands on.
    const shell = spawn("/bin/sh", ["-c", `node scripts/start.js --port 0 --home '${home}'; exit $?`], {
      cwd: root,
      stdio: "ignore",
    });
    await expect
      .poll(
        async () => {
          pid = JSON.parse(await readFile(join(home, "daemon.json"), "utf8").catch(() => "{}")).pid ?? null;
          return pid;
        },
        { timeout: 90_000 },
      )
      .not.toBeNull();
    expect(pid).not.toBe(shell.pid);
    const exited = once(shell, "exit");
    shell.kill("SIGTERM");
    await exited;
    await expect.poll(() => pid !== null && isAlive(pid), { timeout: 30_000 }).toBe(false);
    await expect(readFile(join(home, "daemon.json"))).rejects.toMatchObject({ code: "ENOENT" });
  }, 150_000);
});

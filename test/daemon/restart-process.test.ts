import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { disposeDaemons, runProgram, temporaryHome } from "../helpers/daemon.ts";
import { freePort } from "../helpers/free-port.ts";
import { openSocket } from "../helpers/socket.ts";

const homes = new Set<string>();
afterEach(async () => {
  for (const home of homes) await runProgram(["daemon", "stop", "--force", "--home", home]);
  homes.clear();
  await disposeDaemons();
});

interface DaemonFile {
  readonly url: string;
  readonly pid: number;
  readonly token: string;
}

/** A home whose daemon is started, in the background, by the command line. */
async function backgroundHome() {
  const home = await temporaryHome();
  homes.add(home);
  const file = async () => JSON.parse(await readFile(join(home, "daemon.json"), "utf8")) as DaemonFile;
  const ask = async (path: string, body?: object) => {
    const { url, token } = await file();
    const answer = await fetch(`${url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Record<string, unknown>;
  };
  return {
    home,
    file,
    ask,
    config: (text: string) => writeFile(join(home, "config.toml"), text, { mode: 0o600 }),
    daemon: (...words: string[]) => runProgram(["daemon", ...words, "--home", home]),
  };
}

describe("daemon restart", () => {
  it("after --port 0: same address, exposure and token, another process; jobs go on, keep-awake is off", async () => {
    const { daemon, ask, file } = await backgroundHome();
    expect((await daemon("start", "--port", "0")).code).toBe(0);
    const before = await file();
    await ask("/api/remote", { access: "tunnel" });
    await ask("/api/command", { type: "keep_awake", mode: "busy" });
    const socket = await openSocket(before.url, { token: before.token });
    const { job } = await socket.command({ type: "job_start", command: "sleep 600" });

    expect((await daemon("restart")).code).toBe(0);
    expect(await socket.waitFor(({ type }) => type === "shutdown")).toMatchObject({ restart: true });
    expect((await socket.closed).code).toBe(1001);
    const after = await file();
    expect(after).toMatchObject({ url: before.url, token: before.token });
    expect(after.pid).not.toBe(before.pid);
    expect(await ask("/api/daemon")).toMatchObject({
      running_jobs: 1,
      remote: { access: "tunnel" },
      awake: { mode: "off", active: false },
    });
    await ask("/api/command", { type: "job_kill", job: job.id });
  });

  it("keeps the address although config.toml names another port, and goes by the rest of the file", async () => {
    const { daemon, ask, file, config } = await backgroundHome();
    await daemon("start", "--port", "0");
    const { url } = await file();
    await config(`port = ${await freePort()}\n[daemon]\nidle_minutes = 7\n`);
    expect((await daemon("restart")).code).toBe(0);
    expect((await file()).url).toBe(url);
    expect(await ask("/api/daemon")).toMatchObject({ idle_minutes: 7 });
  });

  it("moves when it is told to", async () => {
    const { daemon, file } = await backgroundHome();
    await daemon("start", "--port", "0");
    const port = await freePort();
    const moved = await daemon("restart", "--port", String(port));
    expect(moved.code).toBe(0);
    expect(moved.stderr).toContain(`listens on port ${port} now`);
    expect((await file()).url).toBe(`http://127.0.0.1:${port}`);
  });

  it("with a config.toml that no daemon could start with leaves the one that runs", async () => {
    const { daemon, ask, file, config } = await backgroundHome();
    await daemon("start", "--port", "0");
    const { pid } = await file();
    await config("prot = 1\n");
    const refused = await daemon("restart");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("config.toml line 1: prot is not a setting");
    expect(await ask("/api/daemon")).toMatchObject({ pid });
  });

  it("with keys that no daemon could start with leaves the one that runs", async () => {
    const { home, daemon, ask, file } = await backgroundHome();
    await daemon("start", "--port", "0");
    const { pid } = await file();
    await writeFile(join(home, "credentials.toml"), "[agents.x]\nA = 1\n", { mode: 0o600 });
    const refused = await daemon("restart");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("credentials.toml line 2");
    expect(await ask("/api/daemon")).toMatchObject({ pid });
  });

  it("starts one when none runs", async () => {
    const { daemon, ask } = await backgroundHome();
    expect((await daemon("restart", "--port", "0")).code).toBe(0);
    expect(await ask("/api/daemon")).toMatchObject({ clients: 0 });
  });
});

describe("daemon stop, then start", () => {
  it("applies the configuration afresh: port, and exposure that was set before is forgotten", async () => {
    const { daemon, ask, file, config } = await backgroundHome();
    await daemon("start", "--port", "0");
    await ask("/api/remote", { access: "tunnel" });
    const port = await freePort();
    await config(`port = ${port}\n`);
    expect((await daemon("stop")).code).toBe(0);
    expect((await daemon("start")).code).toBe(0);
    expect((await file()).url).toBe(`http://127.0.0.1:${port}`);
    expect(await ask("/api/daemon")).toMatchObject({ remote: { access: "off" } });
  });
});

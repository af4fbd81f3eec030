import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  disposeDaemons,
  runProgram,
  startTestDaemon,
  type TestDaemon,
  temporaryHome,
} from "../helpers/daemon.ts";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

let folder: string;
let home: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-states-")));
  home = await temporaryHome();
  await mkdir(join(folder, "bin"));
});
afterEach(async () => {
  await runProgram(["daemon", "stop", "--force", "--home", home]);
  await disposeDaemons();
  await rm(folder, { recursive: true, force: true });
});

/** A tool that names the door itself as the address: what is sent there arrives at the door. */
async function tool(script: string, name = "loop"): Promise<string> {
  const path = join(folder, "bin", name);
  await writeFile(path, `#!/bin/sh\necho $$ >>"${folder}/starts"\n${script}\n`, { mode: 0o755 });
  return `[tunnel]\ninsecure_http = true\n[tunnel.command]\ncommand = ["${path}", "{port}"]\nurl_pattern = "http://\\\\S+"\n`;
}

const post = (daemon: TestDaemon) => daemon.request("POST", "/api/tunnel", { body: { provider: "command" } });
const remote = async (daemon: TestDaemon) => (await daemon.request("GET", "/api/remote")).json;
const until = (daemon: TestDaemon, expected: object) =>
  vi.waitFor(async () => expect((await remote(daemon)).tunnel).toMatchObject(expected), {
    timeout: 30_000,
    interval: 50,
  });
const starts = async () =>
  (await readFile(join(folder, "starts"), "utf8").catch(() => "")).split("\n").length - 1;

async function survivors(): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "stat=,args="]);
  return stdout.split("\n").filter((line) => line.includes(`${folder}/bin/`) && !line.startsWith("Z"));
}
/** Each tool leads a process group with its watchdog. */
async function groups(): Promise<number> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pgid=,args="]);
  const ours = stdout.split("\n").filter((line) => line.includes(`${folder}/bin/`));
  return new Set(ours.map((line) => line.trim().split(/\s+/)[0])).size;
}
const nobodyLeft = () =>
  vi.waitFor(async () => expect(await survivors()).toEqual([]), { timeout: 10_000, interval: 50 });

const forever = "while :; do sleep 1; done";
const up = 'echo "http://127.0.0.1:$1"';
/** Deaf, and with a helper in a session of its own: whatever state it is in, nothing of it may stay. */
const rude = `trap '' TERM HUP INT; setsid sh -c "trap '' TERM HUP; ${forever} # FOLDER/bin/" &`;
const inState: readonly (readonly [string, string])[] = [
  ["starting", forever],
  ["waiting", `echo "To log in, visit: https://login.example/abc"; ${forever}`],
  ["up", `${up}; ${forever}`],
];

describe("kill -9 of the daemon", () => {
  it.each(inState)(
    "while its tunnel is %s: the tool ends by itself, and the next daemon dials anew",
    async (state, script) => {
      const config = await tool(`${rude.replace("FOLDER", folder)} ${script}`);
      const daemon = await startTestDaemon({ home, config, cwd: folder });
      await post(daemon);
      await until(daemon, { state });
      await vi.waitFor(async () => expect(await starts()).toBe(1), { timeout: 15_000 });
      await daemon.kill9();
      await nobodyLeft();
      const next = await startTestDaemon({ home, cwd: folder });
      await until(next, { state });
      await vi.waitFor(async () => expect(await starts()).toBe(2), { timeout: 15_000 });
      expect((await remote(next)).access).toBe("tunnel");
    },
  );

  it("and a tool that had stopped its watchdog with itself: it ends all the same", async () => {
    const config = await tool(
      `${rude.replace("FOLDER", folder)} ${up}; while [ ! -e "${folder}/stop" ]; do sleep 0.05; done; kill -STOP 0; ${forever}`,
    );
    const daemon = await startTestDaemon({ home, config, cwd: folder });
    await post(daemon);
    await until(daemon, { state: "up" });
    await writeFile(join(folder, "stop"), "");
    await vi.waitFor(
      async () =>
        expect((await survivors()).some((line) => /^T.*sallyport-tunnel /.test(line.trim()))).toBe(true),
      { timeout: 15_000 },
    );
    await daemon.kill9();
    await vi.waitFor(async () => expect(await survivors()).toEqual([]), { timeout: 30_000, interval: 50 });
  });

  it("and a tool whose deaf helper left its group with a wiped environment: both end", async () => {
    const helper = `env -i setsid /bin/sh -c "trap '' TERM HUP; ${forever} # ${folder}/bin/" &`;
    const daemon = await startTestDaemon({
      home,
      config: await tool(`${helper} ${up}; ${forever}`),
      cwd: folder,
    });
    await post(daemon);
    await until(daemon, { state: "up" });
    await vi.waitFor(async () => expect((await survivors()).join()).toContain("trap '' TERM"), {
      timeout: 15_000,
    });
    await daemon.kill9();
    await vi.waitFor(async () => expect(await survivors()).toEqual([]), { timeout: 30_000, interval: 50 });
  });

  it("while it waits for the next try: the next daemon dials anew", async () => {
    const config = await tool("exit 3");
    const daemon = await startTestDaemon({ home, config, cwd: folder });
    await post(daemon);
    await until(daemon, { state: "failed" });
    await daemon.kill9();
    await tool(`${up}; ${forever}`);
    await until(await startTestDaemon({ home, cwd: folder }), { state: "up" });
  });

  it("and a stranger on the door's port since then: the tunnel gets another door, and the stranger no token", async () => {
    const config = await tool(`${up}; ${forever}`);
    const daemon = await startTestDaemon({ home, config, cwd: folder });
    await post(daemon);
    await until(daemon, { state: "up" });
    const { port } = new URL((await remote(daemon)).tunnel.url);
    await daemon.kill9();
    await nobodyLeft();
    const heard: string[] = [];
    const stranger = createServer((socket) => {
      socket.on("data", (data) => heard.push(String(data)));
      socket.on("error", () => undefined);
    }).listen(Number(port), "127.0.0.1");
    await once(stranger, "listening");
    const next = await startTestDaemon({ home, cwd: folder });
    await until(next, { state: "up" });
    expect(new URL((await remote(next)).tunnel.url).port).not.toBe(port);
    expect(heard.join("")).not.toMatch(/sp[md]_|authorization/i);
    stranger.close();
  });
});

describe("daemon restart", () => {
  it.each(inState)("while the tunnel is %s leaves one tool, in the same state", async (state, script) => {
    const config = await tool(script);
    await writeFile(join(home, "config.toml"), config, { mode: 0o600 });
    const cli = async (...words: string[]) => {
      const ran = await runProgram([...words, "--home", home]);
      expect(ran).toMatchObject({ code: 0 });
      return ran.stdout;
    };
    const status = async () => JSON.parse(await cli("tunnel", "status", "--json"));
    const reaches = () =>
      vi.waitFor(async () => expect((await status()).tunnel.state).toBe(state), { timeout: 30_000 });
    await cli("daemon", "start", "--port", "0");
    await cli("tunnel", "start", "command", "--no-wait");
    await reaches();
    await cli("daemon", "restart");
    await reaches();
    expect((await status()).access).toBe("tunnel");
    await vi.waitFor(async () => expect(await starts()).toBe(state === "up" ? 1 : 2), { timeout: 15_000 });
    expect(await groups()).toBe(1);
    await cli("tunnel", "stop");
    await nobodyLeft();
    expect((await status()).access).toBe("off");
  });
});

describe("exposure", () => {
  it.each([
    ["off", [], "off"],
    ["tunnel", [], "tunnel"],
    ["off", ["again"], "off"],
    ["off", ["tunnel"], "tunnel"],
    ["off", ["kill"], "off"],
  ] as const)(
    "that was %s, with %j while the tunnel is up, is %s after its end",
    async (before, meanwhile, after) => {
      const config = await tool(`${up}; ${forever}`);
      let daemon = await startTestDaemon({ home, config, cwd: folder });
      if (before !== "off") await daemon.request("POST", "/api/remote", { body: { access: before } });
      await post(daemon);
      await until(daemon, { state: "up" });
      for (const step of meanwhile)
        if (step === "again") {
          // Another order in place of the first: what the first switched on is the second's now.
          await daemon.request("POST", "/api/tunnel", {
            body: { provider: "command", url: (await remote(daemon)).tunnel.url },
          });
          await until(daemon, { state: "up" });
        } else if (step === "kill") {
          await daemon.kill9();
          daemon = await startTestDaemon({ home, cwd: folder });
          await until(daemon, { state: "up" });
        } else await daemon.request("POST", "/api/remote", { body: { access: step } });
      expect((await daemon.request("DELETE", "/api/tunnel")).json.access).toBe(after);
      await nobodyLeft();
    },
  );
});

it("a program that is missing is refused and leaves the tunnel that runs alone", async () => {
  const config = await tool(`${up}; ${forever}`);
  const daemon = await startTestDaemon({
    home,
    cwd: folder,
    config: `${config}[tunnel.ngrok]\nbinary = "/nowhere/ngrok"\n`,
  });
  await post(daemon);
  await until(daemon, { state: "up" });
  const refused = await daemon.request("POST", "/api/tunnel", { body: { provider: "ngrok" } });
  expect([refused.status, refused.json.code]).toEqual([422, "not_supported"]);
  expect(await remote(daemon)).toMatchObject({
    access: "tunnel",
    tunnel: { provider: "command", state: "up" },
  });
});

it("fast stops and starts leave exactly one tool, and the last word counts", async () => {
  const config = await tool(`${up}; ${forever}`);
  const daemon = await startTestDaemon({ home, config, cwd: folder });
  const orders = Array.from({ length: 20 }, (_, at) =>
    at % 2 === 0 ? post(daemon) : daemon.request("DELETE", "/api/tunnel"),
  );
  for (const answer of await Promise.all(orders)) expect(answer.status).toBeLessThan(300);
  await post(daemon);
  await until(daemon, { state: "up" });
  await vi.waitFor(async () => expect(await groups()).toBe(1), { timeout: 15_000 });
  await daemon.request("DELETE", "/api/tunnel");
  await nobodyLeft();
});

it("two daemons with two homes keep out of each other's tunnels", async () => {
  const config = await tool(`${up}; ${forever}`);
  const [one, two] = [
    await startTestDaemon({ home, config, cwd: folder }),
    await startTestDaemon({ config, cwd: folder }),
  ];
  await Promise.all([post(one), post(two)]);
  await Promise.all([until(one, { state: "up" }), until(two, { state: "up" })]);
  const urls = [(await remote(one)).tunnel.url, (await remote(two)).tunnel.url];
  expect(urls[0]).not.toBe(urls[1]);
  await one.request("DELETE", "/api/tunnel");
  await vi.waitFor(async () => expect((await survivors()).length).toBeGreaterThan(0), { timeout: 15_000 });
  expect((await remote(two)).tunnel).toMatchObject({ state: "up", url: urls[1] });
  await two.kill9();
  await nobodyLeft();
});

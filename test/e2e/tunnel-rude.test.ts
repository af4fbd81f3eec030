import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  disposeDaemons,
  runProgram,
  spawnProgram,
  startTestDaemon,
  type TestDaemon,
} from "../helpers/daemon.ts";
import { requireProgram } from "../helpers/require-program.ts";
import { startTlsFront, type TlsFront } from "../helpers/tls-front.ts";

const openssl = requireProgram("openssl");
const host = "seasonal-deck.trycloudflare.com";
const url = `https://${host}`;
const cloudflareToken = "eyJhIjoiYWNjb3VudCIsInQiOiJ0dW5uZWwiLCJzIjoic2VjcmV0LW9mLWl0In0";

let folder: string;
let front: TlsFront;
let daemon: TestDaemon;
beforeAll(async () => {
  if (openssl === null) return;
  folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-rude-")));
  await mkdir(join(folder, "bin"));
  front = await startTlsFront(join(folder, "tls"), [host, "sally.example"], join(folder, "port"));
  daemon = await startTestDaemon({
    cwd: folder,
    env: { PATH: `${folder}/bin:${process.env.PATH}` },
    config: `[tunnel]\nprobe_address = "127.0.0.1:${front.port}"\nprobe_ca = "${front.certificate}"\n`,
  });
});
afterAll(async () => {
  await daemon?.stop();
  await front?.close();
  await disposeDaemons();
  if (folder) await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  if (folder) await rm(join(folder, "port"), { force: true });
});
afterEach(async () => {
  await daemon?.request("DELETE", "/api/tunnel");
});

/** `cloudflared`, which learns its door's port as the real one does and then does what the script says. */
async function tool(script: string): Promise<void> {
  const path = join(folder, "bin", "cloudflared");
  const port = `for word; do case "$word" in http://127.0.0.1:*) echo "\${word##*:}" >"${folder}/port";; esac; done`;
  await writeFile(path, `#!/bin/sh\n${port}\n${script}\n`);
  await chmod(path, 0o755);
}

const tunnel = async () => (await daemon.request("GET", "/api/remote")).json.tunnel;
const until = (expected: object) =>
  vi.waitFor(async () => expect(await tunnel()).toMatchObject(expected), { timeout: 60_000, interval: 50 });
const start = (body: object = {}) =>
  daemon.request("POST", "/api/tunnel", { body: { provider: "cloudflared", ...body } });

async function survivors(): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "stat=,args="]);
  return stdout.split("\n").filter((line) => line.includes(`${folder}/bin/`) && !line.startsWith("Z"));
}

const forever = "while :; do sleep 1; done";
const says = `echo "2026-11-30T10:00:00Z INF |  ${url}  |"; echo "2026-11-30T10:00:00Z INF Registered tunnel connection connIndex=0"`;
const deaf = `trap '' TERM HUP INT QUIT`;

describe.skipIf(openssl === null)("rude tools", () => {
  it.each([
    [
      "names the address among 100 MB of chatter",
      `${says}; head -c 100000000 /dev/zero | tr '\\0' 'x' | fold -w 200; ${forever}`,
    ],
    [
      "names the address behind 30 MB of chatter",
      `head -c 30000000 /dev/zero | tr '\\0' 'x' | fold -w 200; ${says}; ${forever}`,
    ],
    ["floods without end behind it", `${says}; while :; do echo chatter; done`],
    [
      "prints binary garbage around it",
      `head -c 100000 /dev/urandom; echo; ${says}; head -c 100000 /dev/urandom; ${forever}`,
    ],
    [
      "never ends a line",
      `printf '%s' "INF |  ${url}  | Registered tunnel connection "; while :; do printf x; done`,
    ],
    [
      "prints two addresses, the first of which leads nowhere",
      `echo "INF |  https://gone-away.trycloudflare.com  |"; ${says}; ${forever}`,
    ],
    ["closes its output", `${says}; exec >&- 2>&-; ${forever}`],
    ["reads its input to the end first", `cat; ${says}; ${forever}`],
    ["takes its time", `sleep 3; ${says}; ${forever}`],
    ["ignores every signal", `${deaf}; ${says}; ${forever}`],
    [
      "has helpers in sessions of their own",
      `setsid sh -c "${deaf}; ${forever} # FOLDER/bin/" & setsid setsid sh -c "${forever} # FOLDER/bin/" & ${deaf}; ${says}; ${forever}`,
    ],
    ["forks on and on", `${says}; while :; do ( ${deaf}; sleep 2 ) & sleep 0.05; done`],
    ["stops itself and its group", `${says}; kill -STOP 0; ${forever}`],
    ["wipes its own output", `${says}; sleep 0.3; : >/dev/stdout; ${forever}`],
  ])("one that %s comes up, and is gone within 10 s", async (_, script) => {
    await tool(script.replaceAll("FOLDER", folder));
    const order = await start();
    expect([order.status, order.json.access]).toEqual([202, "tunnel"]);
    await until({ state: "up", url });
    expect((await daemon.request("DELETE", "/api/tunnel")).json).toMatchObject({
      access: "off",
      tunnel: { state: "off", provider: null },
    });
    await vi.waitFor(async () => expect(await survivors()).toEqual([]), { timeout: 60_000, interval: 50 });
    await vi.waitFor(
      async () =>
        expect((await readdir(join(daemon.home, "tunnel"))).filter((each) => each !== "tunnel.json")).toEqual(
          [],
        ),
      { timeout: 60_000 },
    );
  });

  it.each([
    ["prints nothing that is known", `echo hello; echo "listening somewhere"; ${forever}`],
    [
      "prints an address of another domain",
      `echo "INF |  https://sally.example  |"; echo "INF Registered tunnel connection"; ${forever}`,
    ],
    [
      "prints an address that only begins as the right one",
      `echo "INF |  ${url}.sally.example  |"; ${forever}`,
    ],
    [
      "prints the address of its own service",
      `echo "failed to request quick Tunnel: https://api.trycloudflare.com"; ${forever}`,
    ],
  ])("one that %s does not come up, and offers nothing", async (_, script) => {
    await tool(script);
    await start();
    // What it says has arrived when a line behind it is known to be heard.
    await vi.waitFor(async () => expect(await readdir(join(daemon.home, "tunnel"))).not.toEqual([]), {
      timeout: 60_000,
    });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await tunnel()).toMatchObject({ state: "starting", url: null });
    expect((await daemon.request("GET", "/api/remote")).json.addresses).toEqual([]);
  });

  it("one that leads to somebody else's daemon does not come up, and says so", async () => {
    const other = await startTestDaemon({ cwd: folder });
    await tool(`echo ${other.port} >"${folder}/port"; ${says}; ${forever}`);
    await start();
    await vi.waitFor(async () => expect((await tunnel()).text).toMatch(/somebody else|not by this daemon/), {
      timeout: 60_000,
    });
    expect(await tunnel()).toMatchObject({ state: "starting", url: null });
    await other.stop();
  });

  it.each([
    ["exits 0 at once", "exit 0", "exit code 0"],
    ["exits with an error", "echo 'ERR no route to the edge'; exit 7", "no route to the edge"],
    ["kills itself and its watchdog", "kill -9 $PPID; kill -9 $$", "has ended"],
    ["dies with its whole group", "kill -9 0", "has ended"],
    ["is no program at all", "\u0001\u0002", "exit code 127"],
  ])("one that %s fails with the reason and is tried again", async (_, script, reason) => {
    await tool(script);
    await start();
    await until({ state: "failed", reason: expect.stringContaining(reason) });
    expect(Date.parse((await tunnel()).next_try)).toBeGreaterThan(0);
    expect((await daemon.request("GET", "/api/remote")).json.access).toBe("tunnel");
  });

  it("one that dies while it is up is dialled again, and its links go away meanwhile", async () => {
    await tool(`${says}; while [ ! -e "${folder}/die" ]; do sleep 0.05; done; exit 1`);
    await start();
    await until({ state: "up" });
    await writeFile(join(folder, "die"), "");
    await until({ state: "failed" });
    expect((await daemon.request("GET", "/api/remote")).json.addresses).toEqual([]);
    await rm(join(folder, "die"));
    await until({ state: "up", url });
  });

  it("a token that is echoed in every way gets into no answer, log, argument or file but its own", async () => {
    await tool(
      `echo "token: $TUNNEL_TOKEN"; printf 'tok%s' "$TUNNEL_TOKEN"; echo; echo "ERR bad $TUNNEL_TOKEN" >&2; printf '\\033[31m%s\\033[0m' "$TUNNEL_TOKEN"; sleep 1; echo "failed: $TUNNEL_TOKEN"; sleep 1; exit 1`,
    );
    await start({ token: cloudflareToken, hostname: "sally.example" });
    const { stdout } = await promisify(execFile)("ps", ["-eo", "args="]);
    expect(stdout).not.toContain(cloudflareToken);
    await until({ state: "failed", reason: expect.stringContaining("[secret]") });
    const answers = JSON.stringify([
      (await daemon.request("GET", "/api/remote")).text,
      (await daemon.request("GET", "/api/snapshot")).text,
      (await runProgram(["tunnel", "status", "--json", "--home", daemon.home])).stdout,
      daemon.output(),
    ]);
    expect(answers).not.toContain(cloudflareToken);
    const holders: string[] = [];
    for (const entry of await readdir(daemon.home, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) {
        const text = await readFile(join(entry.parentPath, entry.name), "latin1").catch(() => "");
        if (text.includes(cloudflareToken)) holders.push(entry.name);
      }
    expect(holders).toEqual(["tunnel.json"]);
  });

  it("sallyport tunnel start says why and ends with 1; with --json it prints one value", async () => {
    await tool("echo 'ERR \\033[31mno route to the edge\u202e'; exit 7");
    const ran = await runProgram(["tunnel", "start", "cloudflared", "--home", daemon.home]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("no route to the edge");
    expect(ran.stderr).toContain("sallyport tunnel stop");
    expect(ran.stderr).not.toMatch(/[\u001b\u202e]/);
    const json = await runProgram(["tunnel", "start", "cloudflared", "--json", "--home", daemon.home]);
    expect(JSON.parse(json.stdout).tunnel.provider).toBe("cloudflared");
  });

  it("sallyport tunnel start shows link and QR code when it is up", async () => {
    await tool(`${says}; ${forever}`);
    const ran = await runProgram(["tunnel", "start", "cloudflared", "--home", daemon.home]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain(`${url}/#pair=`);
  });

  it("up --tunnel shows what becomes of it, and its end leaves nothing", async () => {
    await tool(`${says}; ${forever}`);
    const home = join(folder, "up");
    await mkdir(home, { mode: 0o700 });
    await writeFile(
      join(home, "config.toml"),
      `[tunnel]\nprobe_address = "127.0.0.1:${front.port}"\nprobe_ca = "${front.certificate}"\n`,
      { mode: 0o600 },
    );
    const up = await spawnProgram(["up", "--tunnel", "cloudflared", "--port", "0", "--home", home], {
      cwd: folder,
      env: { PATH: `${folder}/bin:${process.env.PATH}` },
    });
    await vi.waitFor(() => expect(up.output()).toContain(`${url}/#pair=`), { timeout: 60_000 });
    const exited = new Promise((resolve) => up.child.once("exit", resolve));
    up.child.kill("SIGINT");
    expect(await exited).toBe(0);
    await vi.waitFor(async () => expect(await survivors()).toEqual([]), { timeout: 60_000, interval: 50 });
  });
});

import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
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
import { openSocket } from "../helpers/socket.ts";

let folder: string;
let home: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-tools-")));
  home = await temporaryHome();
  await mkdir(join(folder, "bin"));
});
afterEach(async () => {
  await runProgram(["daemon", "stop", "--force", "--home", home]);
  await disposeDaemons();
  await rm(folder, { recursive: true, force: true });
});

/** A tool of this name that comes first on the daemon's PATH. */
async function tool(name: string, script: string): Promise<string> {
  const path = join(folder, "bin", name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

const start = (config = ""): Promise<TestDaemon> =>
  startTestDaemon({ home, config, cwd: folder, env: { PATH: `${folder}/bin:${process.env.PATH}` } });

const post = (daemon: TestDaemon, body: object) => daemon.request("POST", "/api/tunnel", { body });
const tunnelOf = async (daemon: TestDaemon) => (await daemon.request("GET", "/api/remote")).json.tunnel;
const until = (daemon: TestDaemon, expected: object) =>
  vi.waitFor(async () => expect(await tunnelOf(daemon)).toMatchObject(expected), {
    timeout: 60_000,
    interval: 50,
  });

async function survivors(): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "stat=,args="]);
  return stdout.split("\n").filter((line) => line.includes(`${folder}/bin/`) && !line.startsWith("Z"));
}

const forever = "while :; do sleep 1; done";
/** Names the door itself as the address: what is sent there arrives at the door. */
const loop = (extra = "") =>
  `command = ["${folder}/bin/loop", "{port}"]\nurl_pattern = "http://\\\\S+"\n${extra}`;

describe("tunnels by tools", () => {
  it("tailscale waits: shows text and link, the link to admin only, until Serve is enabled", async () => {
    await tool(
      "tailscale",
      `cat "${process.cwd()}/test/fixtures/tunnel/tailscale-not-enabled.txt" | head -5; ${forever}`,
    );
    const daemon = await start();
    const { json } = await daemon.request("POST", "/api/pair/codes", { body: { scopes: ["view"] } });
    const viewer = await daemon.request("POST", "/api/pair", {
      token: null,
      body: { code: json.code, name: "wall", kind: "tablet" },
    });
    const socket = await openSocket(daemon.url, { token: daemon.token });
    expect((await post(daemon, { provider: "tailscale" })).status).toBe(202);
    const change = await socket.waitFor(
      (message) => message.type === "remote" && message.remote.tunnel.link !== null,
    );
    expect(change.remote.tunnel).toMatchObject({
      state: "waiting",
      link: "https://login.tailscale.com/f/serve?node=nABCDEF1CNTRL",
    });
    const seen = await daemon.request("GET", "/api/remote", { token: viewer.json.token });
    expect(seen.json.tunnel).toMatchObject({ state: "waiting", link: null });
    await socket.close();
  });

  it("cloudflared with a wrong token fails for good, repeats no token, and closes what it opened", async () => {
    await tool("cloudflared", 'echo "Provided Tunnel token is not valid. $TUNNEL_TOKEN" >&2; exit 255');
    const daemon = await start();
    const token = "eyJhIjoibXktc2VjcmV0In0";
    await post(daemon, { provider: "cloudflared", token, hostname: "sally.example.com" });
    await until(daemon, { state: "failed", next_try: null });
    expect((await tunnelOf(daemon)).reason).toContain("refuses the token");
    await vi.waitFor(
      async () => expect((await daemon.request("GET", "/api/remote")).json.access).toBe("off"),
      { timeout: 60_000 },
    );
    expect(await readFile(join(home, "daemon.log"), "utf8")).not.toContain(token);
  });

  it("ngrok that repeats its authtoken in an error does not get it into state or log", async () => {
    await tool("ngrok", 'echo "lvl=eror msg=\\"failed to auth $NGROK_AUTHTOKEN\\""; exit 1');
    const secret = "2abcDEFghiJKLmno_345";
    const daemon = await start(`[tunnel.ngrok]\nauthtoken = "${secret}"\n`);
    await post(daemon, { provider: "ngrok" });
    await until(daemon, { state: "failed" });
    expect((await tunnelOf(daemon)).reason).toContain("[secret]");
    expect(await readFile(join(home, "daemon.log"), "utf8")).not.toContain(secret);
  });

  it("an unknown provider, and one whose program is missing, are refused; exposure stays off", async () => {
    const daemon = await start(
      `[tunnel.ngrok]\nbinary = "${folder}/nowhere"\n[tunnel.command]\ncommand = ["${folder}/none"]\nurl = "https://x.example"\n`,
    );
    const unknown = await post(daemon, { provider: "bogus" });
    expect([unknown.status, unknown.json.code, unknown.json.field]).toEqual([
      422,
      "invalid_field",
      "provider",
    ]);
    const none = await post(daemon, { provider: "command" });
    expect([none.status, none.json.code]).toEqual([422, "not_supported"]);
    expect(none.json.message).toMatch(/none was not found.*tunnel\.command\.command/);
    expect(none.json.message).not.toContain("binary");
    const missing = await post(daemon, { provider: "ngrok" });
    expect([missing.status, missing.json.code]).toEqual([422, "not_supported"]);
    expect(missing.json.message).toContain("https://ngrok.com/download");
    expect((await daemon.request("GET", "/api/remote")).json).toMatchObject({
      access: "off",
      tunnel: { provider: "ngrok", state: "failed", next_try: null },
    });
  });

  it("a device without admin starts and ends none", async () => {
    const daemon = await start();
    const { json } = await daemon.request("POST", "/api/pair/codes", { body: { scopes: ["view", "drive"] } });
    const device = await daemon.request("POST", "/api/pair", {
      token: null,
      body: { code: json.code, name: "x", kind: "phone" },
    });
    const refused = await daemon.request("POST", "/api/tunnel", {
      token: device.json.token,
      body: { provider: "tailscale" },
    });
    expect([refused.status, refused.json.code]).toEqual([403, "scope_missing"]);
    expect((await daemon.request("DELETE", "/api/tunnel", { token: device.json.token })).status).toBe(403);
    expect((await tunnelOf(daemon)).state).toBe("off");
  });

  it("daemon restart keeps the tool and its address; stop, then start, does not", async () => {
    await tool("loop", `echo started >>"${folder}/starts"; echo "http://127.0.0.1:$1"; ${forever}`);
    await writeFile(
      join(home, "config.toml"),
      `[tunnel]\ninsecure_http = true\n[tunnel.command]\n${loop()}`,
      { mode: 0o600 },
    );
    const daemon = (...words: string[]) => runProgram(["daemon", ...words, "--home", home]);
    const remote = async () =>
      JSON.parse((await runProgram(["tunnel", "status", "--json", "--home", home])).stdout);
    expect((await daemon("start", "--port", "0")).code).toBe(0);
    const up = await runProgram(["tunnel", "start", "command", "--json", "--home", home]);
    expect(up.code).toBe(0);
    const { url } = JSON.parse(up.stdout).tunnel;
    expect((await daemon("restart")).code).toBe(0);
    await vi.waitFor(async () => expect((await remote()).tunnel).toMatchObject({ state: "up", url }), {
      timeout: 60_000,
    });
    expect(await readFile(join(folder, "starts"), "utf8")).toBe("started\n");
    expect((await remote()).access).toBe("tunnel");
    expect((await daemon("stop")).code).toBe(0);
    await vi.waitFor(async () => expect(await survivors()).toEqual([]), { timeout: 60_000 });
    expect((await daemon("start", "--port", "0")).code).toBe(0);
    expect(await remote()).toMatchObject({ access: "off", tunnel: { state: "off" } });
  });
});

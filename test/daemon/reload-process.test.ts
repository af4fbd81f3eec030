import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { disposeDaemons, spawnProgram, startTestDaemon, temporaryHome } from "../helpers/daemon.ts";
import { openSocket } from "../helpers/socket.ts";

afterEach(disposeDaemons);

/** A daemon with a client, and its config.toml. */
async function start(config: string, args: readonly string[] = []) {
  const daemon = await startTestDaemon({ config, args });
  const socket = await openSocket(daemon.url, { token: daemon.token });
  const path = join(daemon.home, "config.toml");
  let heard = socket.messages.length;
  return {
    daemon,
    socket,
    path,
    write: (text: string) => writeFile(path, text, { mode: 0o600 }),
    /** The next message of a type since the last call. */
    async next(type: string) {
      const message = await socket.waitFor(
        (each) => each.type === type && socket.messages.indexOf(each) >= heard,
      );
      heard = socket.messages.indexOf(message) + 1;
      return message;
    },
    hello: (host: string) => daemon.request("GET", "/api/hello", { token: null, headers: { host } }),
  };
}

describe("a changed config.toml", () => {
  it("counts at once: names, origins, rules, idle time", async () => {
    const { daemon, socket, write, next, hello } = await start("");
    await daemon.request("POST", "/api/remote", { body: { access: "on" } });
    expect((await hello("box.example")).json.code).toBe("host_refused");
    await write(
      'hosts = ["box.example"]\norigins = ["https://app.example"]\n[daemon]\nidle_minutes = 7\n[rules]\ndeny = ["bash(rm *)"]\n',
    );
    expect(await next("reloaded")).toEqual({ type: "reloaded", rev: expect.any(Number) });
    expect((await hello("box.example")).status).toBe(200);
    const fromApp = { token: daemon.token, headers: { origin: "https://app.example" } };
    expect((await daemon.request("GET", "/api/daemon", fromApp)).json.idle_minutes).toBe(7);
    expect(await socket.command({ type: "job_start", command: "rm x" })).toMatchObject({
      code: "rule_denied",
    });
    await write("");
    await next("reloaded");
    expect((await hello("box.example")).json.code).toBe("host_refused");
    expect((await daemon.request("GET", "/api/daemon", fromApp)).json.code).toBe("origin_refused");
  });

  it("that is wrong is refused with line and key, and the old one stays whole", async () => {
    const { daemon, write, next } = await start("[daemon]\nidle_minutes = 7\n");
    const idle = async () => (await daemon.request("GET", "/api/daemon")).json.idle_minutes;
    await write("[daemon]\nidle_minutes = 8\nbrowse_rot = '/srv'\n");
    const { message } = await next("notice");
    expect(message).toContain("config.toml line 3: daemon.browse_rot");
    expect(message).toContain("Did you mean daemon.browse_root?");
    expect(await idle()).toBe(7);
    await write("[daemon]\nidle_minutes = 8\n");
    await next("reloaded");
    expect(await idle()).toBe(8);
  });

  it("is taken whole when it is written in parts", async () => {
    const { daemon, path, next } = await start("[daemon]\nidle_minutes = 7\n");
    await writeFile(path, "[daemon]\nidle_minutes = ", { mode: 0o600 });
    await writeFile(path, "9\n", { flag: "a" });
    await next("reloaded");
    expect((await daemon.request("GET", "/api/daemon")).json.idle_minutes).toBe(9);
  });

  it("that is put in its place by a rename, through a link, is seen", async () => {
    const { daemon, path, next } = await start("[daemon]\nidle_minutes = 7\n");
    await writeFile(`${path}.new`, "[daemon]\nidle_minutes = 9\n", { mode: 0o600 });
    await rename(`${path}.new`, path);
    await next("reloaded");
    expect((await daemon.request("GET", "/api/daemon")).json.idle_minutes).toBe(9);
  });

  it("names what counts only after stop and start", async () => {
    const { daemon, write, next } = await start("port = 7801\n");
    await write("port = 7802\n");
    await next("reloaded");
    expect((await next("notice")).message).toMatch(/port\. Run: sallyport daemon stop, then/);
    expect((await daemon.request("GET", "/api/daemon")).status).toBe(200);
  });

  it("that is gone takes no rule away with it", async () => {
    const { path, socket, next } = await start('[rules]\ndeny = ["bash(rm *)"]\n');
    await rm(path);
    expect((await next("notice")).message).toContain("config.toml is gone");
    expect(await socket.command({ type: "job_start", command: "rm x" })).toMatchObject({
      code: "rule_denied",
    });
  });

  it("opens and closes doors", async () => {
    const { daemon, write, next } = await start("");
    await daemon.request("POST", "/api/remote", { body: { access: "tunnel" } });
    await next("remote");
    const path = join(daemon.home, "door.sock");
    const door = `[[door]]\nlisten = "${path}"\nurl = "https://box.example"\n`;
    await write(door);
    expect((await next("remote")).remote.addresses).toEqual([
      { kind: "tunnel", address: "https://box.example" },
    ]);
    const through = () =>
      daemon.request("GET", "/api/hello", {
        token: null,
        headers: { host: "box.example" },
        connectTo: { socketPath: path },
      });
    expect((await through()).status).toBe(200);
    await next("reloaded");
    await mkdir(join(daemon.home, "taken"));
    await write(`${door}[[door]]\nlisten = "${daemon.home}/taken"\nurl = "https://other.example"\n`);
    expect((await next("notice")).message).toContain("https://other.example");
    expect((await through()).status).toBe(200);
    await write("");
    await next("reloaded");
    await expect(through()).rejects.toThrow();
  });

  it("with a certificate makes the network speak TLS, and with a bad one is refused", async () => {
    const { daemon, write, next } = await start("", ["--remote"]);
    const tls = new URL("../gateway/gate/tls/", import.meta.url).pathname;
    await write(`[tls]\ncert = "/nowhere/cert.pem"\nkey = "${tls}key.pem"\n`);
    expect((await next("notice")).message).toContain("/nowhere/cert.pem cannot be read");
    await write(`[tls]\ncert = "${tls}cert.pem"\nkey = "${tls}key.pem"\n`);
    await next("reloaded");
    const { json } = await daemon.request("GET", "/api/remote");
    expect(json.access).toBe("on");
    for (const { address } of json.addresses) expect(address).toMatch(/^https:/);
  });
});

describe("SIGHUP", () => {
  it("makes a daemon read its settings again, changed or not, and does not end it", async () => {
    const { daemon, next } = await start("");
    process.kill(daemon.pid, "SIGHUP");
    await next("reloaded");
    process.kill(daemon.pid, "SIGHUP");
    await next("reloaded");
    expect((await daemon.request("GET", "/api/daemon")).status).toBe(200);
  });

  it("during a flood of them: all are heard, and the daemon goes on", async () => {
    const { daemon, next, socket } = await start("");
    for (let count = 0; count < 50; count++) process.kill(daemon.pid, "SIGHUP");
    await next("reloaded");
    expect(await socket.command({ type: "ping" })).toMatchObject({ type: "pong" });
  });

  it("makes `up` without a terminal read them too", async () => {
    const home = await temporaryHome();
    const { child, stdout } = await spawnProgram(["up", "--home", home, "--port", "0"]);
    await vi.waitFor(() => expect(stdout()).toContain("http://127.0.0.1:"), 60_000);
    child.kill("SIGHUP");
    const url = stdout().split("\n")[0] ?? "";
    await vi.waitFor(async () => expect((await fetch(`${url}/api/hello`)).status).toBe(200), 60_000);
    expect(child.exitCode).toBeNull();
  });
});

import { once } from "node:events";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { helloProof } from "../../src/auth/master-token.ts";
import {
  disposeDaemons,
  runProgram,
  spawnProgram,
  startTestDaemon,
  temporaryHome,
} from "../helpers/daemon.ts";
import { startForwarder } from "../helpers/forwarder.ts";
import { openSocket } from "../helpers/socket.ts";

afterEach(disposeDaemons);

/** Runs a daemon that must not start; yields what it said. */
async function failedStart(home: string, args: readonly string[] = [], env = {}) {
  const run = await runProgram(["daemon", "run", "--home", home, "--port", "0", ...args], { env });
  expect(run.code).toBe(1);
  return run.stderr;
}

/** What stands in `daemon.json`, once it is there. */
async function daemonFile(home: string): Promise<{ readonly pid: number; readonly url: string }> {
  const read = async () => JSON.parse(await readFile(join(home, "daemon.json"), "utf8"));
  return vi.waitFor(read, 60_000);
}

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
const remoteHost = { host: "192.168.1.20:7700" };

describe("a daemon that starts", () => {
  it("describes itself in daemon.json and proves that it knows the token", async () => {
    const daemon = await startTestDaemon();
    const file = JSON.parse(await readFile(join(daemon.home, "daemon.json"), "utf8"));
    expect(file).toMatchObject({ url: `http://127.0.0.1:${daemon.port}`, pid: daemon.pid });
    expect(file.urls).toEqual([`${daemon.url}/?token=${daemon.token}`]);
    expect(Object.keys(file).sort()).toEqual([
      "instance",
      "pid",
      "started",
      "token",
      "url",
      "urls",
      "version",
    ]);
    const hello = await daemon.request("GET", "/api/hello?challenge=0123456789abcdef", { token: null });
    expect(hello.json).toMatchObject({ app: "sallyport", remote: false, pairing: true });
    expect(hello.json.proof).toBe(helloProof(daemon.token, daemon.port, "0123456789abcdef"));
    const state = await daemon.request("GET", "/api/daemon");
    expect(state.json).toMatchObject({ pid: daemon.pid, instance: daemon.instance, running_jobs: 0 });
  });

  it("keeps every file of the home to this user", async () => {
    const { home, request } = await startTestDaemon();
    await request("POST", "/api/remote", { body: { access: "tunnel" } });
    expect(await modeOf(home)).toBe(0o700);
    for (const name of [
      "daemon.json",
      "daemon.token",
      "daemon.key",
      "devices.json",
      "state.json",
      "daemon.log",
    ])
      expect(`${name} ${(await modeOf(join(home, name))).toString(8)}`).toBe(`${name} 600`);
    for (const name of ["workspaces", "sessions", "jobs"]) expect(await modeOf(join(home, name))).toBe(0o700);
  });

  it("serves the page on this machine", async () => {
    const daemon = await startTestDaemon();
    const page = await daemon.request("GET", "/", { token: null });
    expect(page.status).toBe(200);
    expect(page.headers["content-type"]).toContain("text/html");
  });

  it("writes no secret into a log, whatever is sent", async () => {
    const daemon = await startTestDaemon();
    const secret = `spd_${"x".repeat(40)}.${"y".repeat(40)}.${"z".repeat(40)}`;
    await daemon.request("GET", "/api/daemon", { token: secret });
    await daemon.request("GET", `/api/daemon?token=${secret}`, { token: null });
    await daemon.request("GET", `/${secret}?code=ABCDE-FGHJK`, {
      headers: { ...remoteHost, cookie: secret },
    });
    const { json: minted } = await daemon.request("POST", "/api/pair/codes", { body: {} });
    const { json: paired } = await daemon.request("POST", "/api/pair", {
      token: null,
      body: { code: minted.code, name: "phone" },
    });
    await daemon.stop();
    const logs = `${await readFile(join(daemon.home, "daemon.log"), "utf8")}${await readFile(join(daemon.home, "audit.jsonl"), "utf8")}`;
    expect(logs).toContain("device_paired");
    for (const text of [daemon.token, secret, "xxxxx", minted.code, paired.token])
      expect(logs).not.toContain(text);
  });

  it("names the new token in daemon.json when daemon.token is deleted", async () => {
    const daemon = await startTestDaemon();
    await rm(join(daemon.home, "daemon.token"));
    await vi.waitFor(async () => {
      const { token } = JSON.parse(await readFile(join(daemon.home, "daemon.json"), "utf8"));
      expect(token).not.toBe(daemon.token);
      expect((await daemon.request("GET", "/api/daemon", { token })).status).toBe(200);
    }, 60_000);
    expect((await daemon.request("GET", "/api/daemon")).status).toBe(401);
  });

  it("takes a fixed token from the environment, and refuses an empty one", async () => {
    const token = "0123456789abcdef0123456789abcdef";
    const daemon = await startTestDaemon({ env: { SALLYPORT_TOKEN: token } });
    expect(daemon.token).toBe(token);
    expect((await daemon.request("GET", "/api/daemon")).status).toBe(200);
    expect(await failedStart(await temporaryHome(), [], { SALLYPORT_TOKEN: "" })).toContain(
      "SALLYPORT_TOKEN",
    );
  });

  it("goes on when nobody reads its output any more", async () => {
    const home = await temporaryHome();
    const { child } = await spawnProgram(["daemon", "run", "--home", home, "--port", "0"]);
    child.stdout?.destroy();
    child.stderr?.destroy();
    const file = await daemonFile(home);
    const answer = await fetch(`${file.url}/api/hello`);
    expect(answer.status).toBe(200);
  });
});

describe("a second start", () => {
  it("of the same home ends at once and names the one that runs", async () => {
    const daemon = await startTestDaemon();
    const said = await failedStart(daemon.home);
    expect(said).toContain(daemon.url);
    expect(said).toContain(String(daemon.pid));
    expect((await daemon.request("GET", "/api/daemon")).status).toBe(200);
  });

  it("at the same moment: exactly one runs", async () => {
    const home = await temporaryHome();
    const starts = await Promise.all(
      Array.from({ length: 4 }, () => spawnProgram(["daemon", "run", "--home", home, "--port", "0"])),
    );
    const ended: number[] = [];
    for (const { child } of starts) child.once("exit", (code) => ended.push(code ?? -1));
    await vi.waitFor(() => expect(ended).toEqual([1, 1, 1]), 60_000);
    const { pid, url } = await daemonFile(home);
    expect(starts.filter(({ child }) => child.exitCode === null).map(({ child }) => child.pid)).toEqual([
      pid,
    ]);
    expect((await fetch(`${url}/api/hello`)).status).toBe(200);
  });

  it("after kill -9 follows at once, with another instance and the same exposure", async () => {
    const first = await startTestDaemon();
    await first.request("POST", "/api/remote", { body: { access: "tunnel" } });
    await first.kill9();
    const second = await startTestDaemon({ home: first.home });
    expect(second.instance).not.toBe(first.instance);
    expect(second.token).toBe(first.token);
    expect((await second.request("GET", "/api/remote")).json.access).toBe("tunnel");
  });

  it("on a port that a stranger holds: says so, names --port, and sends the stranger no token", async () => {
    const home = await temporaryHome();
    const seen: string[] = [];
    const stranger = createServer((request, answer) => {
      seen.push(`${request.method} ${request.url} ${request.rawHeaders.join(" ")}`);
      answer.end('{"app":"sallyport","version":"1.0.0","proof":"x"}');
    }).listen(0, "127.0.0.1");
    await once(stranger, "listening");
    const { port } = stranger.address() as AddressInfo;
    const run = await runProgram(["daemon", "run", "--home", home, "--port", String(port)]);
    const token = (await readFile(join(home, "daemon.token"), "utf8")).trim();
    stranger.closeAllConnections();
    stranger.close();
    expect(run.code).toBe(1);
    expect(run.stderr).toContain(String(port));
    expect(run.stderr).toContain("--port");
    expect(seen.join("\n")).not.toContain(token);
    await expect(stat(join(home, "daemon.json"))).rejects.toThrow("ENOENT");
  });
});

describe("the end of a daemon", () => {
  it("by SIGTERM is clean and keeps exposure", async () => {
    const daemon = await startTestDaemon();
    await daemon.request("POST", "/api/remote", { body: { access: "tunnel" } });
    const socket = await openSocket(daemon.url, { token: daemon.token });
    expect(await daemon.stop()).toBe(0);
    expect((await socket.closed).code).toBe(1001);
    expect(socket.messages.map(({ type }) => type)).toContain("shutdown");
    await expect(stat(join(daemon.home, "daemon.json"))).rejects.toThrow("ENOENT");
    const next = await startTestDaemon({ home: daemon.home });
    expect((await next.request("GET", "/api/remote")).json.access).toBe("tunnel");
  });

  it("does not wait for a client that never answers", async () => {
    const daemon = await startTestDaemon();
    const socket = await openSocket(daemon.url, { token: daemon.token });
    socket.ws.pause();
    expect(await daemon.stop()).toBe(0);
    socket.ws.resume();
    await socket.closed;
  });

  it("by a stop request forgets exposure, by a restart request keeps it", async () => {
    const daemon = await startTestDaemon();
    await daemon.request("POST", "/api/remote", { body: { access: "tunnel" } });
    expect((await daemon.request("POST", "/api/daemon/stop", { body: { restart: true } })).status).toBe(202);
    expect(await daemon.exited).toBe(0);
    const second = await startTestDaemon({ home: daemon.home });
    expect((await second.request("GET", "/api/remote")).json.access).toBe("tunnel");
    expect((await second.request("POST", "/api/daemon/stop", { body: {} })).status).toBe(202);
    expect(await second.exited).toBe(0);
    const third = await startTestDaemon({ home: daemon.home });
    expect((await third.request("GET", "/api/remote")).json.access).toBe("off");
  });
});

describe("a damaged file", () => {
  it("daemon.json: is written anew", async () => {
    const home = await temporaryHome();
    await writeFile(join(home, "daemon.json"), '{"url":', { mode: 0o600 });
    const daemon = await startTestDaemon({ home });
    expect((await daemon.request("GET", "/api/daemon")).status).toBe(200);
  });

  it.each([
    ["state.json", "{"],
    ["config.toml", "prot = 1"],
    ["devices.json", "[]"],
    ["daemon.key", "x"],
    ["daemon.token", "x"],
    ["credentials.toml", "[agents.x]\nA = without-quotes"],
  ])("%s: stops the start, is named, and is left as it is", async (name, text) => {
    const home = await temporaryHome();
    if (name === "daemon.key")
      await writeFile(join(home, "devices.json"), '{"version":1,"devices":[]}', { mode: 0o600 });
    await writeFile(join(home, name), text, { mode: 0o600 });
    expect(await failedStart(home)).toContain(join(home, name));
    expect(await readFile(join(home, name), "utf8")).toBe(text);
    await expect(stat(join(home, "daemon.json"))).rejects.toThrow("ENOENT");
  });
});

describe("exposure", () => {
  it("off: every remote request gets 403 before anything else answers; on: they are let in", async () => {
    const daemon = await startTestDaemon();
    for (const path of ["/", "/api/hello", "/api/daemon", "/nothing"]) {
      const refused = await daemon.request("GET", path, { headers: remoteHost });
      expect([refused.status, refused.json.code]).toEqual([403, "remote_off"]);
    }
    const on = await daemon.request("POST", "/api/remote", { body: { access: "on" } });
    expect(on.json.access).toBe("on");
    expect(on.json.bound.some((bound: string) => bound.endsWith(`:${daemon.port}`))).toBe(true);
    expect((await daemon.request("GET", "/api/hello", { headers: remoteHost, token: null })).status).toBe(
      200,
    );
    expect((await daemon.request("GET", "/api/daemon", { headers: remoteHost })).status).toBe(401);
  });

  it("does not disturb local sockets when it changes, tells them, and closes remote ones with 4403", async () => {
    const daemon = await startTestDaemon();
    const local = await openSocket(daemon.url, { token: daemon.token });
    await daemon.request("POST", "/api/remote", { body: { access: "on" } });
    const { json: minted } = await daemon.request("POST", "/api/pair/codes", { body: {} });
    const { json: paired } = await daemon.request("POST", "/api/pair", {
      token: null,
      headers: remoteHost,
      body: { code: minted.code, name: "phone" },
    });
    const remote = await openSocket(daemon.url, { token: paired.token, headers: remoteHost });
    await daemon.request("POST", "/api/remote", { body: { access: "off" } });
    expect((await remote.closed).code).toBe(4403);
    await local.waitFor(
      ({ type, remote: now }) => type === "remote" && now.access === "on" && now.devices === 1,
    );
    await local.waitFor(({ type, remote: now }) => type === "remote" && now.access === "off");
    expect(await local.command({ type: "ping" })).toMatchObject({ type: "pong" });
    const audit = await readFile(join(daemon.home, "audit.jsonl"), "utf8");
    expect(audit).toContain('"exposure_changed"');
    expect(audit).not.toContain(paired.token);
  });

  it("from on to tunnel: closes what came over the network, and leaves the doors alone", async () => {
    const home = await temporaryHome();
    const path = join(home, "door.sock");
    const daemon = await startTestDaemon({
      home,
      args: ["--remote"],
      config: `[[door]]\nlisten = "${path}"\nurl = "https://box.example"\n`,
    });
    const { json: minted } = await daemon.request("POST", "/api/pair/codes", { body: {} });
    const { json: paired } = await daemon.request("POST", "/api/pair", {
      token: null,
      body: { code: minted.code, name: "phone" },
    });
    const forwarder = await startForwarder({ path });
    try {
      const byDoor = await openSocket(`http://127.0.0.1:${forwarder.port}`, {
        token: paired.token,
        headers: { host: "box.example" },
      });
      const byNetwork = await openSocket(daemon.url, { token: paired.token, headers: remoteHost });
      await daemon.request("POST", "/api/remote", { body: { access: "tunnel" } });
      expect((await byNetwork.closed).code).toBe(4403);
      expect(await byDoor.command({ type: "ping" })).toMatchObject({ type: "pong" });
      await daemon.request("POST", "/api/remote", { body: { access: "off" } });
      expect((await byDoor.closed).code).toBe(4403);
    } finally {
      await forwarder.close();
    }
  });

  it("with an unreadable certificate: on is refused with the reason, and the daemon goes on", async () => {
    const daemon = await startTestDaemon({
      config: '[tls]\ncert = "/nowhere/cert.pem"\nkey = "/nowhere/key.pem"\n',
    });
    const refused = await daemon.request("POST", "/api/remote", { body: { access: "on" } });
    expect(refused.status).toBe(422);
    expect(refused.json.message).toContain("/nowhere/cert.pem");
    expect((await daemon.request("GET", "/api/remote")).json.access).toBe("off");
  });

  it("with a certificate: the network must speak TLS, this machine may, and addresses say https", async () => {
    const tls = new URL("../gateway/gate/tls/", import.meta.url).pathname;
    const daemon = await startTestDaemon({
      config: `[tls]\ncert = "${tls}cert.pem"\nkey = "${tls}key.pem"\n`,
      args: ["--remote"],
    });
    expect((await daemon.request("GET", "/api/daemon")).status).toBe(200);
    const overTls = httpsRequest({
      host: "127.0.0.1",
      port: daemon.port,
      path: "/api/hello",
      rejectUnauthorized: false,
      agent: false,
    }).end();
    const [answer] = await once(overTls, "response");
    expect(answer.statusCode).toBe(200);
    answer.resume();
    const { json } = await daemon.request("GET", "/api/remote");
    expect(json.access).toBe("on");
    for (const { address } of json.addresses) expect(address).toMatch(/^https:/);
  });

  it("--remote is kept for the next start", async () => {
    const daemon = await startTestDaemon({ args: ["--remote"] });
    expect((await daemon.request("GET", "/api/remote")).json.access).toBe("on");
    await daemon.kill9();
    const next = await startTestDaemon({ home: daemon.home });
    expect((await next.request("GET", "/api/remote")).json.access).toBe("on");
  });
});

describe("a door of the configuration", () => {
  it("a raw TCP forwarder with Host: localhost and the right master token: remote, refused", async () => {
    const home = await temporaryHome();
    const path = join(home, "door.sock");
    const daemon = await startTestDaemon({
      home,
      config: `[[door]]\nlisten = "${path}"\nurl = "https://box.example"\n`,
    });
    const forwarder = await startForwarder({ path });
    try {
      const through = (headers: Record<string, string>) =>
        daemon.request("GET", "/api/daemon", { headers, connectTo: { port: forwarder.port } });
      expect((await through({ host: "localhost" })).json.code).toBe("remote_off");
      await daemon.request("POST", "/api/remote", { body: { access: "tunnel" } });
      expect((await through({ host: "localhost" })).json.code).toBe("host_refused");
      expect((await through({ host: "box.example" })).status).toBe(401);
      const { json } = await daemon.request("GET", "/api/remote");
      expect(json.addresses).toEqual([{ kind: "tunnel", address: "https://box.example" }]);
    } finally {
      await forwarder.close();
    }
  });

  it("on a socket that a killed daemon left behind is opened again", async () => {
    const home = await temporaryHome();
    const path = join(home, "door.sock");
    const config = `[[door]]\nlisten = "${path}"\nurl = "https://box.example"\n`;
    await (await startTestDaemon({ home, config })).kill9();
    const daemon = await startTestDaemon({ home });
    const answer = await daemon.request("GET", "/api/hello", {
      headers: { host: "box.example" },
      connectTo: { socketPath: path },
    });
    expect(answer.json.code).toBe("remote_off");
    expect(await modeOf(path)).toBe(0o660);
  });

  it("that cannot be opened stops the start and is named", async () => {
    const blocker = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const { port } = blocker.address() as AddressInfo;
    const home = await temporaryHome();
    await writeFile(join(home, "config.toml"), `[[door]]\nlisten = ${port}\nurl = "https://box.example"\n`, {
      mode: 0o600,
    });
    const said = await failedStart(home);
    blocker.close();
    expect(said).toContain(String(port));
    expect(said).toContain("[[door]]");
  });
});

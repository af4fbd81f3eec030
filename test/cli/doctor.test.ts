import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { checkBrowser, checkNode } from "../../src/cli/checks/check-machine.ts";
import { checkClock } from "../../src/cli/checks/check-secrets.ts";
import type { Finding } from "../../src/cli/checks/finding.ts";
import { daemonFileOf, homeWith, startFakeDaemon } from "./fake-daemon.ts";
import { cli } from "./fake-io.ts";

const undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

async function homeOf(files: Readonly<Record<string, string>>, mode = 0o600): Promise<string> {
  const { home, remove } = await homeWith(null);
  undo.push(remove);
  for (const [name, text] of Object.entries({ "config.toml": "port = 0\n", ...files })) {
    await writeFile(join(home, name), text);
    await chmod(join(home, name), mode);
  }
  return home;
}

async function doctor(home: string, env: Record<string, string> = {}, now: () => number = Date.now) {
  const ran = await cli(["doctor", "--json"], { home, env, now });
  const answer = JSON.parse(ran.stdout) as { ok: boolean; checks: readonly Finding[] };
  const of = (check: string): Finding => {
    const found = answer.checks.find((finding) => finding.check === check);
    if (!found) throw new Error(`no check ${check}`);
    return found;
  };
  return { ...ran, answer, of };
}

describe("sallyport doctor", () => {
  it("finds nothing wrong in a home that is in order, and changes nothing", async () => {
    const home = await homeOf({});
    const before = await readdir(home);
    const { exitCode, answer } = await doctor(home);
    expect(answer.checks.filter(({ state }) => state === "fail")).toEqual([]);
    expect(exitCode).toBe(0);
    expect(await readdir(home)).toEqual(before);
  });

  it.each<[string, Record<string, string>, string, string]>([
    ["a config that does not parse", { "config.toml": "port = [" }, "config", "config.toml"],
    ["an unknown key", { "config.toml": "prot = 1\n" }, "config", "port"],
    ["a damaged devices.json", { "devices.json": "{" }, "devices", "devices.json"],
    [
      "a damaged daemon.key",
      { "devices.json": '{"version":1,"devices":[]}', "daemon.key": "x" },
      "devices",
      "daemon.key",
    ],
    ["a damaged daemon.token", { "daemon.token": "short" }, "token", "daemon.token"],
    ["a damaged daemon.json", { "daemon.json": "{" }, "daemon", "daemon.json"],
  ])("tells %s and ends with 1", async (_name, files, check, says) => {
    const { exitCode, of, answer } = await doctor(await homeOf(files));
    expect(exitCode).toBe(1);
    expect(answer.ok).toBe(false);
    expect(of(check).state).toBe("fail");
    expect(`${of(check).message} ${of(check).next}`).toContain(says);
  });

  it("tells a key without its devices", async () => {
    const key = { kid: "k".repeat(12), secret: "A".repeat(43), created: "2026-01-01T00:00:00.000Z" };
    const home = await homeOf({ "daemon.key": JSON.stringify({ version: 1, current: key, previous: null }) });
    const { of } = await doctor(home);
    expect(of("devices")).toMatchObject({ state: "fail" });
    expect(of("devices").next).toContain("sallyport devices reset");
  });

  it("tells files that others can read, with the command that closes them", async () => {
    const { exitCode, of } = await doctor(await homeOf({ "daemon.token": "x" }, 0o644));
    expect(exitCode).toBe(1);
    expect(of("files").next).toMatch(/^chmod 600 .*daemon\.token/);
  });

  it("only warns of a config.toml that has the mode of an editor, in a home that nobody else can enter", async () => {
    const home = await homeOf({ "config.toml": "port = 0\n" }, 0o644);
    const { exitCode, of } = await doctor(home);
    expect(exitCode).toBe(0);
    expect(of("files")).toMatchObject({ state: "warn" });
    expect(of("files").next).toMatch(/^chmod 600 .*config\.toml/);
    await chmod(home, 0o755);
    expect((await doctor(home)).of("files").state).toBe("fail");
  });

  it("tells a home that others can write", async () => {
    const home = await homeOf({});
    await chmod(home, 0o777);
    const { of } = await doctor(home);
    expect(of("home").state).toBe("fail");
    expect(of("home").message).toContain("chmod 700");
  });

  it("tells a port that a stranger holds", async () => {
    // Who does not read never hears that the other side has gone.
    const stranger = createServer((socket) => socket.on("error", () => undefined).resume());
    await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
    undo.push(() => new Promise((resolve) => stranger.close(() => resolve())));
    const { port } = stranger.address() as { port: number };
    const { of } = await doctor(await homeOf({ "config.toml": `port = ${port}\n` }));
    expect(of("port").state).toBe("fail");
    expect(of("port").next).toContain("--port");
  });

  it("tells a stale daemon.json, and our own daemon on its port", async () => {
    const stale = await homeOf({
      "daemon.json": JSON.stringify(daemonFileOf("http://127.0.0.1:7700", 2 ** 30)),
    });
    expect((await doctor(stale)).of("daemon")).toMatchObject({ state: "warn" });
    const daemon = await startFakeDaemon();
    undo.push(daemon.close);
    const running = await homeOf({ "daemon.json": JSON.stringify(daemonFileOf(daemon.url)) });
    const { of } = await doctor(running);
    expect(of("daemon").state).toBe("ok");
    expect(of("port").message).toContain("our own daemon");
  });

  it("tells an empty or short SALLYPORT_TOKEN without printing it", async () => {
    const { of, stdout } = await doctor(await homeOf({}), { SALLYPORT_TOKEN: "tooshort-secret" });
    expect(of("token").state).toBe("fail");
    expect(stdout).not.toContain("tooshort-secret");
    expect((await doctor(await homeOf({}), { SALLYPORT_TOKEN: "" })).of("token").state).toBe("fail");
  });
});

describe("checkClock", () => {
  const now = Date.UTC(2026, 10, 1);
  it.each([
    ["before the program existed", [], Date.UTC(1970, 0, 2), "fail"],
    ["behind a device's pairing", ["2026-11-02T00:00:00.000Z"], now, "warn"],
    ["a little behind one", ["2026-11-01T00:01:00.000Z"], now, "ok"],
    ["after all of them", ["2026-01-01T00:00:00.000Z"], now, "ok"],
  ])("a clock %s is %s", (_name, created, at, state) => {
    expect(
      checkClock(
        created.map((time) => ({ created: time })),
        at as number,
      ).state,
    ).toBe(state);
  });
});

describe("checkBrowser", () => {
  it.each<[string, NodeJS.Platform, Record<string, string>, string]>([
    ["on a server, where there is no screen", "linux", { PATH: "/nowhere" }, "ok"],
    ["on a desktop without xdg-open", "linux", { PATH: "/nowhere", DISPLAY: ":0" }, "warn"],
    ["on Wayland without xdg-open", "linux", { PATH: "/nowhere", WAYLAND_DISPLAY: "wayland-0" }, "warn"],
    ["on macOS", "darwin", {}, "ok"],
  ])("%s", async (_, platform, env, state) => {
    expect((await checkBrowser(platform, env)).state).toBe(state);
  });
});

describe("checkNode", () => {
  it.each([
    ["v20.18.3", "fail"],
    ["v18.20.0", "fail"],
    ["v20.19.0", "ok"],
    ["v22.0.0", "ok"],
    ["v24.1.0", "ok"],
  ])("%s is %s", (version, state) => {
    expect(checkNode(version).state).toBe(state);
  });
});

describe("sallyport devices reset", () => {
  it("sets the pairing files aside without a daemon", async () => {
    const home = await homeOf({ "devices.json": "{", "daemon.key": "x" });
    const ran = await cli(["devices", "reset", "--json"], { home });
    expect(ran.exitCode).toBe(0);
    expect((JSON.parse(ran.stdout) as { set_aside: string[] }).set_aside).toHaveLength(2);
    const names = await readdir(home);
    expect(names).not.toContain("devices.json");
    expect(names.filter((name) => /^(devices\.json|daemon\.key)\./.test(name))).toHaveLength(2);
  });

  it("refuses while the daemon runs, and moves nothing", async () => {
    const daemon = await startFakeDaemon();
    undo.push(daemon.close);
    const home = await homeOf({
      "devices.json": "{",
      "daemon.json": JSON.stringify(daemonFileOf(daemon.url)),
    });
    await mkdir(join(home, "jobs"));
    const ran = await cli(["devices", "reset"], { home });
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain("sallyport daemon stop");
    expect(await readdir(home)).toContain("devices.json");
  });

  it("tells keys that it cannot use, without a word of them", async () => {
    const { exitCode, of, stdout } = await doctor(
      await homeOf({ "credentials.toml": "[agents.qwen]\nOPENAI_API_KEY = sk-secret-0123456789\n" }),
    );
    expect(exitCode).toBe(1);
    expect(of("keys")).toMatchObject({ state: "fail", message: expect.stringContaining("line 2") });
    expect(stdout).not.toContain("sk-secret");
    const good = '[agents.qwen]\nOPENAI_API_KEY = "sk-secret-0123456789"\n';
    const well = await doctor(await homeOf({ "credentials.toml": good }));
    expect(well.of("keys")).toMatchObject({ state: "ok", message: expect.stringContaining("keys for qwen") });
    expect(well.stdout).not.toContain("sk-secret");
  });

  it("starts the agents of the configuration, lets them say hello, and tells those that do not", async () => {
    const home = await homeOf({});
    const agent = async (name: string, source: string): Promise<string> => {
      await writeFile(join(home, `${name}.mjs`), source);
      const args = JSON.stringify([join(home, `${name}.mjs`)]);
      return `[agents.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`;
    };
    const greets = `
      import { createInterface } from "node:readline";
      for await (const line of createInterface(process.stdin)) {
        const { id } = JSON.parse(line);
        const result = { protocolVersion: 1, agentInfo: { name: "greeter", version: "2.1" }, agentCapabilities: { loadSession: true } };
        process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
      }`;
    const texts = [
      "port = 0\n",
      await agent("greets", greets),
      await agent("ends", 'process.stderr.write("no account\\n"); process.exit(3);'),
      '[agents.gone]\ncommand = "/no/such/agent"\n',
    ];
    await writeFile(join(home, "config.toml"), texts.join(""), { mode: 0o600 });
    const { exitCode, answer } = await doctor(home, { PATH: "/usr/bin:/bin" });
    const [good, ended, gone] = answer.checks.filter(({ check }) => check === "agent");
    expect(good).toMatchObject({ state: "ok", message: expect.stringContaining("greets (greeter 2.1)") });
    expect(ended).toMatchObject({ state: "fail", message: expect.stringContaining("no account") });
    expect(gone).toMatchObject({ state: "fail", next: expect.stringContaining("agents.gone.command") });
    expect(exitCode).toBe(1);
  });
});

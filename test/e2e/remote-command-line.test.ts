import { once } from "node:events";
import { mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  disposeDaemons,
  type ProgramRun,
  runProgram,
  spawnProgram,
  startTestDaemon,
  type TestDaemon,
  temporaryHome,
} from "../helpers/daemon.ts";
import { type Forwarder, startForwarder } from "../helpers/forwarder.ts";
import { freePort } from "../helpers/free-port.ts";

describe("sallyport attach", () => {
  afterAll(disposeDaemons);

  it("goes on by itself after its daemon was killed and started again at the same port", async () => {
    const first = await startTestDaemon({ port: await freePort() });
    const { child, output } = await spawnProgram(["--home", first.home, "attach", "--new"]);
    const exited = once(child, "exit");
    const shows = (text: string): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => {
          if (output().includes(text)) resolve();
        };
        child.stderr?.on("data", look);
        child.stdout?.on("data", look);
        look();
      });
    child.stdin?.write("echo before\n/allow\n/jobs\n");
    // A line that is done when the turn before it has ended.
    await shows("No jobs");
    await first.kill9();
    await shows("Coming back by itself");
    // Given while there is no daemon: kept, and sent once.
    child.stdin?.write("echo after\n");
    const second = await startTestDaemon({ home: first.home, port: first.port });
    await shows("connected again");
    await shows("| echo after");
    child.stdin?.end("/allow\n");
    expect((await exited)[0], output()).toBe(0);
    expect(output().match(/^after$/gm)).toHaveLength(1);
    await second.stop();
  });
});

/** The same commands from another machine: a second home, through a forwarder to a door. */
describe("the command line against a daemon elsewhere", () => {
  let daemon: TestDaemon;
  let forwarder: Forwarder;
  let folder: string;
  let otherHome: string;
  let address: string;

  const own = (...words: string[]): Promise<ProgramRun> => runProgram(["--home", daemon.home, ...words]);
  const there = (words: readonly string[], input = ""): Promise<ProgramRun> =>
    runProgram(["--home", otherHome, "-C", "box", ...words], { input });
  const newCode = async (): Promise<string> => JSON.parse((await own("pair", "--json")).stdout).code;

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-there-")));
    otherHome = join(await temporaryHome(), "never-started");
    const doorPort = await freePort();
    forwarder = await startForwarder({ port: doorPort });
    // A forwarder keeps the Host of its caller: here its own address is the door's public one.
    address = `http://127.0.0.1:${forwarder.port}`;
    daemon = await startTestDaemon({
      config: `[[door]]\nlisten = ${doorPort}\nurl = "${address}"\n`,
      cwd: folder,
    });
  });
  afterAll(async () => {
    await forwarder.close();
    await disposeDaemons();
    await rm(folder, { recursive: true, force: true });
  });

  it("is told to switch remote access on there", async () => {
    const ran = await runProgram([
      "--home",
      otherHome,
      "connect",
      "add",
      "box",
      address,
      "--pair",
      await newCode(),
    ]);
    expect(ran).toMatchObject({ code: 4, stderr: expect.stringContaining("sallyport remote on") });
  });

  it("pairs by link, and keeps the token in a file of this user alone, in a home that never had a daemon", async () => {
    expect((await own("remote", "tunnel")).code).toBe(0);
    const link = `${address}/#pair=${await newCode()}`;
    const ran = await runProgram(["--home", otherHome, "connect", "add", "box", link]);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    expect((await stat(otherHome)).mode & 0o777).toBe(0o700);
    expect((await stat(join(otherHome, "remotes.json"))).mode & 0o777).toBe(0o600);
    const { remotes } = JSON.parse(await readFile(join(otherHome, "remotes.json"), "utf8"));
    expect(ran.stdout + ran.stderr).not.toContain(remotes[0].token);
  });

  it("runs a command there with its output and exit code", async () => {
    expect(await there(["run", "--", "pwd; echo err >&2; exit 3"])).toMatchObject({
      code: 3,
      stdout: `${folder}\nerr\n`,
    });
  });

  it("reads no file of this machine for a job there", async () => {
    const started = await there(["run", "--json", "--", "echo theirs"]);
    const { job } = JSON.parse(started.stdout.split("\n")[0] ?? "");
    expect((await there(["jobs", "output", job.id])).stdout).toBe("theirs\n");
    expect(JSON.parse((await there(["jobs", "--json"])).stdout).jobs).toContainEqual(
      expect.objectContaining({ id: job.id, state: "exited" }),
    );
  });

  it("attaches there, with lines piped in, and answers approvals", async () => {
    const ran = await there(["attach", "--new"], "echo first\n/allow\necho second\n/allow\n");
    expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: "first\nsecond\n" });
    const sessions = JSON.parse((await there(["sessions", "--json"])).stdout).sessions;
    expect((await there(["sessions", "show", sessions[0].id])).stdout).toContain("second\n");
  });

  it("tells what the daemon there is doing, and its settings, without secrets of its own", async () => {
    expect((await there(["daemon", "status"])).stdout.split("\n")[0]).toBe(address);
    expect(JSON.parse((await there(["config", "show", "--json"])).stdout).path).toBe(
      join(daemon.home, "config.toml"),
    );
    expect((await there(["web"])).stdout).toBe(`${address}\n`);
  });

  it("an attached one is told when it is revoked, and every later command too", async () => {
    const { child, output } = await spawnProgram(["--home", otherHome, "-C", "box", "attach"]);
    const exited = once(child, "exit");
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (output().includes("/help says")) resolve();
      };
      child.stderr?.on("data", look);
      look();
    });
    const { devices } = JSON.parse((await own("devices", "--json")).stdout);
    await own("devices", "revoke", devices[0].id);
    expect((await exited)[0]).toBe(4);
    expect(output()).toMatch(/revoked/);
    expect(await there(["jobs"])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("Pair again: sallyport connect add box"),
    });
  });

  it("is forgotten on both sides", async () => {
    const link = `${address}/#pair=${await newCode()}`;
    await runProgram(["--home", otherHome, "connect", "add", "box", link, "--replace"]);
    const ran = await runProgram(["--home", otherHome, "connect", "remove", "box", "--json"]);
    expect(JSON.parse(ran.stdout)).toEqual({ type: "ack", name: "box", revoked: true });
    expect(JSON.parse((await own("devices", "--json")).stdout)).toEqual({ devices: [] });
  });

  it("survives a damaged file of remotes with a message that names it", async () => {
    await writeFile(join(otherHome, "remotes.json"), "{", { mode: 0o600 });
    expect(await there(["jobs"])).toMatchObject({ code: 1, stderr: expect.stringContaining("remotes.json") });
  });
});

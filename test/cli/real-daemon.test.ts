import { readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  disposeDaemons,
  runProgram,
  spawnProgram,
  startTestDaemon,
  type TestDaemon,
  temporaryHome,
} from "../helpers/daemon.ts";
import { cli, startCli } from "./fake-io.ts";

// The command line as a process of its own against the real daemon; what needs a keyboard runs in this process.
let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({ cwd: "/" });
});
afterAll(disposeDaemons);

const at = (...words: string[]): Promise<Awaited<ReturnType<typeof runProgram>>> =>
  runProgram([...words.slice(0, 1), "--home", daemon.home, ...words.slice(1)]);

describe("sallyport run, for real", () => {
  it.each([
    [["echo", "a b"], 0, "a b\n"],
    [["echo one; exit 7"], 7, "one\n"],
    [["kill -9 $$"], 137, ""],
    [["sallyport-has-no-such-program"], 127, null],
    [["sh", "-c", 'printf "%s|" "$@"', "sh", "it's", "", "$HOME", "*"], 0, "it's||$HOME|*|"],
  ])("%j ends with %i", async (words, code, stdout) => {
    const ran = await at("run", "--", ...words);
    expect(ran.code).toBe(code);
    if (stdout !== null) expect(ran.stdout).toBe(stdout);
  });

  it("copies bytes that are no text as they are", async () => {
    const running = await spawnProgram([
      "run",
      "--home",
      daemon.home,
      "--",
      "printf '\\000\\377\\033[2J\\303'",
    ]);
    const chunks: Buffer[] = [];
    running.child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
    await new Promise((resolve) => running.child.once("close", resolve));
    expect([...Buffer.concat(chunks)]).toEqual([0, 255, 27, 91, 50, 74, 0xc3]);
  });

  it("prints one event a line with --json", async () => {
    const ran = await at("run", "--json", "--", "echo out; exit 3");
    expect(ran.code).toBe(3);
    const events = ran.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events[0]).toMatchObject({ type: "job_started" });
    expect(
      events
        .filter(({ type }) => type === "job_output")
        .map(({ output }) => output)
        .join(""),
    ).toBe("out\n");
    expect(events.at(-1)).toMatchObject({ type: "job_finished", job: { state: "exited", exit_code: 3 } });
  });

  it("runs in the folder of --tab", async () => {
    const folder = await realpath(await temporaryHome());
    expect((await at("run", "--tab", folder, "--", "pwd")).stdout).toBe(`${folder}\n`);
  });

  it("Ctrl-C ends the job", async () => {
    const running = startCli(["run", "--", "echo begun; sleep 60"], { home: daemon.home });
    await running.shows("begun");
    running.signal("SIGINT");
    expect((await running.done).exitCode).toBe(130);
    const { jobs } = (await daemon.request("GET", "/api/jobs")).json as {
      jobs: { command: string; state: string }[];
    };
    expect(jobs.find(({ command }) => command.includes("sleep 60"))?.state).toBe("killed");
  });
});

describe("sallyport prompt, for real", () => {
  it.each([
    ["y", "hello-there\n", 0],
    ["n", "", 0],
  ])("asks, takes %s, and is done", async (key, output, exitCode) => {
    const running = startCli(["prompt", "printf 'hello-%s\\n' there"], {
      home: daemon.home,
      hasKeyboard: true,
    });
    await running.shows("n deny");
    running.type(key);
    const ran = await running.done;
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stdout.includes("hello-there")).toBe(output !== "");
  });

  it("prints one event a line with --json, the request among them", async () => {
    const running = startCli(["prompt", "--json", "echo json-turn"], {
      home: daemon.home,
      hasKeyboard: true,
    });
    await running.shows("n deny");
    running.type("y");
    const ran = await running.done;
    const types = ran.stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types[0]).toBe("turn_started");
    expect(types).toContain("permission_requested");
    expect(types.at(-1)).toBe("turn_finished");
  });

  it("a conversation goes on with --agent", async () => {
    const first = startCli(["prompt", "--json", "echo first"], { home: daemon.home, hasKeyboard: true });
    await first.shows("n deny");
    first.type("y");
    const { agent } = JSON.parse((await first.done).stdout.split("\n")[0] ?? "") as { agent: string };
    const second = startCli(["prompt", "--json", "--agent", agent, "echo second"], {
      home: daemon.home,
      hasKeyboard: true,
    });
    await second.shows("n deny");
    second.type("y");
    const ran = await second.done;
    expect(ran.exitCode).toBe(0);
    expect((JSON.parse(ran.stdout.split("\n")[0] ?? "") as { agent: string }).agent).toBe(agent);
  });

  it("an agent that does not exist is a failure with the daemon's words", async () => {
    const ran = await cli(["prompt", "--agent", "01a17453-0000-7000-8000-000000000000", "x"], {
      home: daemon.home,
    });
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).not.toContain("undefined");
  });
});

describe("what is asked over REST, for real", () => {
  it.each([
    ["devices", "devices"],
    ["jobs", "jobs"],
  ])("%s --json prints the list", async (word, field) => {
    const ran = await at(word, "--json");
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(ran.stdout)).toHaveProperty(field);
  });

  it("pair --json prints the code with its offers, and no token", async () => {
    const ran = await at("pair", "--json", "--scope", "view", "--expires-days", "30");
    const code = JSON.parse(ran.stdout) as { code: string; scopes: string[]; offers: { qr: string }[] };
    expect(code.code).toMatch(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/);
    expect(code.scopes).toEqual(["view"]);
    expect(code.offers[0]?.qr).toContain("<svg");
    expect(ran.stdout).not.toContain(daemon.token);
  });

  it("remote on and off, with the words about the network", async () => {
    const on = await at("remote", "on");
    expect(on.stdout).toContain("whoever can read this network can become this device");
    expect(JSON.parse((await at("remote", "off", "--json")).stdout)).toMatchObject({ access: "off" });
  });

  it("jobs output follows a job to its end", async () => {
    const started = await at("run", "--json", "--", "echo followed");
    const { job } = JSON.parse(started.stdout.split("\n")[0] ?? "") as { job: { id: string } };
    expect((await at("jobs", "output", job.id, "--follow")).stdout).toBe("followed\n");
    expect((await at("jobs", "output", job.id, "--tail", "1")).stdout).toBe("followed\n");
    expect((await at("jobs", "output", "00000000")).code).toBe(1);
  });

  it("doctor finds nothing wrong", async () => {
    const ran = await at("doctor", "--json");
    const { checks } = JSON.parse(ran.stdout) as { checks: { state: string }[] };
    expect(checks.filter(({ state }) => state === "fail")).toEqual([]);
    expect(ran.code).toBe(0);
  });

  it("devices reset is refused while the daemon runs", async () => {
    const ran = await at("devices", "reset");
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("sallyport daemon stop");
  });
});

describe("sallyport up on a port that is taken", () => {
  it("by our own daemon: shows its address and a code, and ends with 0", async () => {
    const ran = await at("up");
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain(daemon.url);
    expect(ran.stdout).toMatch(/[0-9A-Z]{5}-[0-9A-Z]{5}/);
  });

  it("by a stranger: ends with 1, names --port, and sends no token", async () => {
    const heard: string[] = [];
    const stranger = createServer((socket) => {
      socket.on("data", (data) => {
        heard.push(data.toString());
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
      });
      socket.on("error", () => undefined);
    });
    await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
    const { port } = stranger.address() as { port: number };
    const home = await temporaryHome();
    const ran = await runProgram(["up", "--home", home, "--port", String(port)]);
    await new Promise((resolve) => stranger.close(resolve));
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("--port");
    const token = (await readFile(join(home, "daemon.token"), "utf8").catch(() => "")).trim();
    expect(heard.join("")).not.toMatch(/authorization|spm_/i);
    if (token !== "") expect(heard.join("")).not.toContain(token);
  });
});

describe("sallyport daemon, for real", () => {
  it("starts, is there twice, restarts at the same address, and stops", async () => {
    const home = await temporaryHome();
    const run = (...words: string[]) => runProgram(["daemon", ...words, "--home", home]);
    const status = async () => JSON.parse((await run("status", "--json")).stdout) as Record<string, unknown>;
    expect((await run("status")).code).toBe(3);
    const started = await run("start", "--port", "0");
    expect(started.code).toBe(0);
    const url = started.stdout.split("\n")[0];
    const first = await status();
    expect((await run("start")).code).toBe(0);
    expect((await status()).pid).toBe(first.pid);
    expect((await runProgram(["remote", "on", "--home", home])).code).toBe(0);

    const restarted = await run("restart");
    expect(restarted.stdout.split("\n")[0]).toBe(url);
    const second = await status();
    expect(second.instance).not.toBe(first.instance);
    expect(second.remote).toMatchObject({ access: "on" });

    expect((await run("stop", "--json")).stdout).toBe('{"type":"ack"}\n');
    expect((await run("stop")).code).toBe(3);
    expect((await run("status", "--json")).code).toBe(3);
  });

  it("two that start at once end up with one daemon", async () => {
    const home = await temporaryHome();
    const start = () => runProgram(["daemon", "start", "--json", "--home", home, "--port", "0"]);
    const both = await Promise.all([start(), start()]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    const [one, two] = both.map(({ stdout }) => (JSON.parse(stdout) as { pid: number }).pid);
    expect(one).toBe(two);
    expect((await runProgram(["daemon", "stop", "--home", home])).code).toBe(0);
  });

  it("a damaged device file keeps it from starting; the reason and the next step are shown, and reset mends it", async () => {
    const home = await temporaryHome();
    await writeFile(join(home, "devices.json"), "{", { mode: 0o600 });
    const failed = await runProgram(["daemon", "start", "--home", home, "--port", "0"]);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain("devices.json");
    expect(failed.stderr).toContain("sallyport devices reset");
    expect(await readFile(join(home, "devices.json"), "utf8")).toBe("{");
    expect((await runProgram(["devices", "reset", "--home", home])).code).toBe(0);
    expect((await runProgram(["daemon", "start", "--home", home, "--port", "0"])).code).toBe(0);
    expect((await runProgram(["daemon", "stop", "--home", home])).code).toBe(0);
  });

  it("does not stop while a job runs, unless forced, and the job lives on", async () => {
    const own = await startTestDaemon();
    const job = await own.request("POST", "/api/command", {
      body: { type: "job_start", command: "sleep 600" },
    });
    const stop = await runProgram(["daemon", "stop", "--home", own.home]);
    expect(stop.code).toBe(1);
    expect(stop.stderr).toContain("--force");
    expect((await runProgram(["daemon", "stop", "--force", "--home", own.home])).code).toBe(0);
    const { pid } = (job.json as { job: { pid: number } }).job;
    expect(() => process.kill(pid, 0)).not.toThrow();
    process.kill(-pid, "SIGKILL");
    await rm(join(own.home, "daemon.json"), { force: true });
  });
});

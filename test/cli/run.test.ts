import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { jobExitCode } from "../../src/cli/run.ts";
import type { Job } from "../../src/protocol/objects.ts";
import { daemonFileOf, type FakeDaemonOptions, homeWith, refusal, startFakeDaemon } from "./fake-daemon.ts";
import { cli, startCli } from "./fake-io.ts";

const undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

const job: Job = {
  id: "3fa9c210",
  workspace: "w1",
  tab: "t1",
  agent: null,
  command: "x",
  cwd: "/",
  pid: 1,
  state: "running",
  exit_code: null,
  reason: null,
  started: "2026-01-01T00:00:00.000Z",
  ended: null,
  bytes: 0,
};

async function setUp(options: FakeDaemonOptions, log: Uint8Array | null = null) {
  const daemon = await startFakeDaemon(options);
  const { home, remove } = await homeWith(daemonFileOf(daemon.url));
  undo.push(daemon.close, remove);
  if (log !== null) {
    await mkdir(join(home, "jobs"));
    await writeFile(join(home, "jobs", `${job.id}.log`), log);
  }
  return { daemon, home };
}

/** A daemon whose job ends with `ended` as soon as it is followed. */
function jobThatEnds(ended: Partial<Job>, seen: unknown[] = []): FakeDaemonOptions {
  return {
    command(command, send) {
      seen.push(command);
      const { client_ref, type } = command;
      if (type === "job_start") send({ type: "job_started", client_ref, job });
      else send({ type: "ack", client_ref });
      if (type === "job_follow") send({ type: "job_finished", rev: 2, job: { ...job, ...ended } });
    },
  };
}

describe("sallyport run", () => {
  it.each([
    ["its own", { state: "exited", exit_code: 7 }, 7],
    ["0", { state: "exited", exit_code: 0 }, 0],
    ["128+n for a signal", { state: "exited", exit_code: 139 }, 139],
    ["that of a killed one", { state: "killed", exit_code: 143 }, 143],
    ["137 for a killed one that tells none", { state: "killed", exit_code: null }, 137],
    ["125 for one that could not start", { state: "failed", exit_code: null }, 125],
    ["125 for a lost one", { state: "lost", exit_code: null }, 125],
  ] as const)("returns the job's exit code: %s", async (_name, ended, exitCode) => {
    expect(jobExitCode({ ...job, ...ended })).toBe(exitCode);
    const { home } = await setUp(jobThatEnds(ended), Buffer.from("out\n"));
    const ran = await cli(["run", "--", "x"], { home });
    expect(ran).toMatchObject({ exitCode, stdout: "out\n" });
  });

  it("copies the log byte for byte into a pipe", async () => {
    const bytes = Buffer.from([0, 27, 91, 50, 74, 255, 254, 10, 0xc3]);
    const { home } = await setUp(jobThatEnds({ state: "exited", exit_code: 0 }), bytes);
    const out: Buffer[] = [];
    const ran = await cli(["run", "--", "x"], { home });
    out.push(Buffer.from(ran.stdout));
    expect(ran.stdout).toBe(bytes.toString("utf8"));
  });

  it("shows a terminal nothing that could steer it, but colours", async () => {
    const { home } = await setUp(
      jobThatEnds({ state: "exited", exit_code: 0 }),
      Buffer.from("\u001b[31mred\u001b[0m \u001b]0;pwned\u0007\u001b[2Jx\u202ey\n"),
    );
    const ran = await cli(["run", "--", "x"], { home, isTerminal: true });
    expect(ran.stdout).toBe("\u001b[31mred\u001b[0m xy\n\u001b[0m");
  });

  it("quotes several words and sends one as a line", async () => {
    const seen: { command?: string }[] = [];
    const { home } = await setUp(jobThatEnds({ state: "exited", exit_code: 0 }, seen), Buffer.from(""));
    await cli(["run", "--", "echo", "a b", "--json"], { home });
    await cli(["run", "--", "echo a | wc"], { home });
    expect(seen.map(({ command }) => command).filter(Boolean)).toEqual(["echo 'a b' --json", "echo a | wc"]);
  });

  it("opens a tab for --tab, or takes the one that is there", async () => {
    const seen: Record<string, unknown>[] = [];
    const { home } = await setUp(
      {
        command(command, send) {
          if (command.type === "tab_create") {
            seen.push(command);
            send({ type: "ack", client_ref: command.client_ref, tab: "t9" });
          } else jobThatEnds({ state: "exited", exit_code: 0 }, seen).command?.(command, send);
        },
      },
      Buffer.from(""),
    );
    await cli(["run", "--tab", ".", "--", "x"], { home, cwd: "/" });
    expect(seen[0]).toMatchObject({ type: "tab_create", cwd: "/" });
    expect(seen[1]).toMatchObject({ type: "job_start", tab: "t9" });
  });

  it.each([
    ["a refusal", refusal("rule_denied", "A rule denies this.")],
    ["a fault of the daemon", refusal("internal", "Something went wrong.")],
  ])("returns 125 for %s", async (_name, error) => {
    const { home } = await setUp({
      command: (command, send) => send({ ...error, client_ref: command.client_ref }),
    });
    const ran = await cli(["run", "--", "x"], { home });
    expect(ran.exitCode).toBe(125);
    expect(ran.stdout).toBe("");
  });

  it("returns 125 without a daemon, and 2 without a command", async () => {
    const { home, remove } = await homeWith(null);
    undo.push(remove);
    expect((await cli(["run", "--", "x"], { home })).exitCode).toBe(125);
    expect((await cli(["run"], { home })).exitCode).toBe(2);
  });

  it("prints one event a line with --json and nothing else", async () => {
    const { home } = await setUp({
      ...jobThatEnds({ state: "exited", exit_code: 3 }),
      answer: ({ path }) => {
        const offset = Number(/offset=(\d+)$/.exec(path)?.[1]);
        const output = offset === 0 ? "out\n" : "";
        return {
          body: {
            type: "job_output",
            job: job.id,
            offset,
            next_offset: 4,
            size: 4,
            output,
            done: true,
            incomplete: false,
          },
        };
      },
    });
    const ran = await cli(["run", "--json", "--", "x"], { home });
    expect(ran.exitCode).toBe(3);
    const lines = ran.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines.map(({ type }) => type)).toEqual([
      "job_started",
      "job_output",
      "job_output",
      "job_finished",
    ]);
  });

  it("kills the job at the first Ctrl-C and returns 130", async () => {
    const { home } = await setUp(
      {
        command(command, send) {
          const { client_ref, type } = command;
          if (type === "job_start") send({ type: "job_started", client_ref, job });
          else send({ type: "ack", client_ref });
          if (type === "job_kill") send({ type: "job_finished", rev: 3, job: { ...job, state: "killed" } });
        },
      },
      Buffer.from("begun\n"),
    );
    const running = startCli(["run", "--", "x"], { home });
    await running.shows("begun");
    running.signal("SIGINT");
    const ran = await running.done;
    expect(ran.exitCode).toBe(130);
    expect(ran.stderr).toContain("Ctrl-C again leaves it running");
    expect(ran.stderr).toContain(`the job was killed. Its output: sallyport jobs output ${job.id}`);
  });

  it("leaves the job running at the second Ctrl-C and says how to go back", async () => {
    const { home } = await setUp(
      {
        command(command, send) {
          const { client_ref, type } = command;
          if (type === "job_start") send({ type: "job_started", client_ref, job });
          else if (type === "job_follow") send({ type: "ack", client_ref });
        },
      },
      Buffer.from("begun\n"),
    );
    const running = startCli(["run", "--", "x"], { home });
    await running.shows("begun");
    running.signal("SIGINT");
    running.signal("SIGINT");
    const ran = await running.done;
    expect(ran.exitCode).toBe(130);
    expect(ran.stderr).toContain(`sallyport jobs output ${job.id}`);
  });

  it.each([
    ["text", ["run", "--", "x"]],
    ["JSON", ["run", "--json", "--", "x"]],
  ])("says that the job goes on when nobody reads its %s any more, and returns 125", async (_what, argv) => {
    const { home } = await setUp(jobThatEnds({ state: "exited", exit_code: 0 }), Buffer.from("out\n"));
    const ran = await cli(argv, { home, isReaderGone: true });
    expect(ran.exitCode).toBe(125);
    expect(ran.stderr).toContain(`sallyport jobs kill ${job.id}`);
  });

  it("says that the job goes on when the daemon goes away, and returns 125", async () => {
    const { home, daemon } = await setUp(
      {
        command(command, send) {
          const { client_ref, type } = command;
          send(type === "job_start" ? { type: "job_started", client_ref, job } : { type: "ack", client_ref });
        },
      },
      Buffer.from("begun\n"),
    );
    const running = startCli(["run", "--", "x"], { home });
    await running.shows("begun");
    await daemon.close();
    undo.splice(0, 1);
    const ran = await running.done;
    expect(ran.exitCode).toBe(125);
    expect(ran.stderr).toContain(`sallyport jobs output ${job.id}`);
  });
});

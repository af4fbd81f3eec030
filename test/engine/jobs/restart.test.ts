import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { createProcessTable } from "../../../src/engine/jobs/create-process-table.ts";
import { cleanUp, openJobs, pidIn, processAlive, spec, temporaryFolder, until, wholeLog } from "./harness.ts";

/** A process that is only the job machinery: starts `JOB` or runs `CALL`, kills when told to, and waits to be killed. */
const daemonSource = `
import { createJobs } from "./src/engine/jobs/create-jobs.ts";
const jobs = await createJobs({
  jobsFolder: process.env.FOLDER, now: Date.now, environment: process.env, onWarning: () => {}, graceMs: 60_000,
  limits: { maxLogBytes: 2 ** 30, maxTotalBytes: 2 ** 33, keepDays: 30, freeDiskFloorBytes: 0 },
});
setInterval(() => {}, 1000);
const cwd = process.env.CWD;
if (process.env.JOB) {
  const job = await jobs.start({ command: process.env.JOB, cwd, workspace: null, tab: null, agent: null });
  process.stdout.write(job.id + "\\n");
  process.stdin.once("data", () => jobs.kill(job.id));
} else {
  void jobs.runCall({ command: process.env.CALL, cwd, onOutput() {}, signal: new AbortController().signal });
  process.stdout.write("call\\n");
}
`;
let daemonFile = "";
const daemons: ChildProcess[] = [];

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-daemon-"));
  daemonFile = join(folder, "daemon.mjs");
  await build({
    stdin: { contents: daemonSource, resolveDir: process.cwd(), loader: "ts" },
    outfile: daemonFile,
    bundle: true,
    platform: "node",
    format: "esm",
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "silent",
  });
  return () => rmSync(folder, { recursive: true });
});
afterEach(async () => {
  cleanUpDaemons();
  await cleanUp();
});

function cleanUpDaemons(): void {
  for (const daemon of daemons.splice(0)) daemon.kill("SIGKILL");
}

/** Starts the fake daemon; resolves with the first line it prints. */
async function startDaemon(
  env: Record<string, string>,
): Promise<{ line: string; child: ChildProcess; die(): Promise<void> }> {
  const child = spawn(process.execPath, [daemonFile], {
    env: { ...process.env, CWD: tmpdir(), ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  daemons.push(child);
  const gone = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  const line = await new Promise<string>((resolve) =>
    child.stdout?.once("data", (data) => resolve(String(data).trim())),
  );
  return {
    line,
    child,
    die: () => {
      child.kill("SIGKILL");
      return gone;
    },
  };
}

describe("after a kill -9 of the daemon", () => {
  it("the job is alive, is adopted, and its end is known", async () => {
    const folder = temporaryFolder();
    const go = join(temporaryFolder(), "go");
    const daemon = await startDaemon({
      FOLDER: folder,
      JOB: `echo before; until [ -e ${go} ]; do sleep 0.02; done; echo after; exit 9`,
    });
    await daemon.die();
    const { jobs, ended, changes } = await openJobs({ jobsFolder: folder });
    expect(jobs.runningCount()).toBe(1);
    expect(jobs.get(daemon.line)).toMatchObject({ state: "running" });
    writeFileSync(go, "");
    expect(await ended(daemon.line)).toMatchObject({ state: "exited", exit_code: 9 });
    expect(await wholeLog(jobs, daemon.line)).toBe("before\nafter\n");
    await until(() => changes.length > 0);
    expect(changes.map((change) => change.kind)).toEqual(["finished"]);
  });

  it("a job that ended meanwhile has its status, the time of its end, and is not announced again", async () => {
    const folder = temporaryFolder();
    const go = join(temporaryFolder(), "go");
    const daemon = await startDaemon({
      FOLDER: folder,
      JOB: `until [ -e ${go} ]; do sleep 0.02; done; exit 9`,
    });
    await daemon.die();
    writeFileSync(go, "");
    await until(() => existsSync(join(folder, `${daemon.line}.exit`)));
    await until(
      () => !processAlive(JSON.parse(readFileSync(join(folder, `${daemon.line}.json`), "utf8")).pid),
    );
    const opened = await openJobs({ jobsFolder: folder });
    const job = opened.jobs.get(daemon.line);
    expect(job).toMatchObject({ state: "exited", exit_code: 9 });
    expect(opened.changes).toEqual([]);
    const again = await opened.reopen();
    expect(again.jobs.get(daemon.line)).toEqual(job);
  });

  it("a kill that was asked for is finished by the next start, also for a job that ignores SIGTERM", async () => {
    const folder = temporaryFolder();
    const daemon = await startDaemon({
      FOLDER: folder,
      JOB: `trap 'echo deaf' TERM; echo on; while :; do sleep 0.02; done`,
    });
    await until(() => readFileSync(join(folder, `${daemon.line}.log`), "utf8") === "on\n");
    daemon.child.stdin?.write("kill\n");
    await until(() => readFileSync(join(folder, `${daemon.line}.log`), "utf8").includes("deaf"));
    await daemon.die();
    const { jobs, ended } = await openJobs({ jobsFolder: folder });
    const pid = jobs.get(daemon.line)?.pid ?? 0;
    expect(processAlive(pid)).toBe(true);
    expect(await ended(daemon.line)).toMatchObject({ state: "killed", exit_code: 137 });
    await until(() => !processAlive(pid));
  });

  it("a foreground call that was left running is ended with its whole tree, and its files are removed", async () => {
    const folder = temporaryFolder();
    const pids = temporaryFolder();
    const daemon = await startDaemon({
      FOLDER: folder,
      CALL: `echo $$ >${pids}/a; sleep 60 & echo $! >${pids}/b; wait`,
    });
    const left = await Promise.all([pidIn(join(pids, "a")), pidIn(join(pids, "b"))]);
    await daemon.die();
    expect(left.every(processAlive)).toBe(true);
    const { jobs } = await openJobs({ jobsFolder: folder });
    await until(() => !left.some(processAlive));
    await until(() => readdirSync(folder).length === 0);
    expect(jobs.list()).toEqual([]);
  });

  it("a daemon that a job started is not killed as a part of it", async () => {
    const { jobs, folder } = await openJobs();
    const inner = temporaryFolder();
    const command = `FOLDER=${inner} CWD=/tmp JOB='sleep 60' exec ${process.execPath} ${daemonFile}`;
    const outer = await jobs.start(spec(command));
    const innerId = await until(
      () => /^[0-9a-f]{8}$/m.exec(readFileSync(join(folder, `${outer.id}.log`), "utf8"))?.[0],
    );
    const pid = await until(
      () => JSON.parse(readFileSync(join(inner, `${innerId}.json`), "utf8")).pid as number,
    );
    expect(await jobs.kill(outer.id)).toMatchObject({ state: "killed" });
    // The inner daemon is of the outer job and dies; its own job carries another mark and lives on.
    expect(processAlive(pid)).toBe(true);
    const taken = await openJobs({ jobsFolder: inner });
    expect(taken.jobs.get(innerId)).toMatchObject({ state: "running" });
    expect(await taken.jobs.kill(innerId)).toMatchObject({ state: "killed" });
  });
});

describe("a record whose pid now belongs to a stranger", () => {
  it("is lost, and neither adopting nor killing signals the stranger", async () => {
    const stranger = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
    const pid = stranger.pid ?? 0;
    try {
      const first = await openJobs();
      const { id } = await first.jobs.start(spec("exit 0"));
      await first.ended(id);
      await first.jobs.close();
      const path = join(first.folder, `${id}.json`);
      const record = JSON.parse(readFileSync(path, "utf8"));
      const stale = { ...record, state: "running", ended: null, exit_code: null, pid, start: 1 };
      for (const kill of [null, { at: record.started, reason: null }]) {
        const sent: unknown[] = [];
        writeFileSync(path, JSON.stringify({ ...stale, kill }));
        writeFileSync(join(first.folder, `${id}.exit`), "");
        writeFileSync(join(first.folder, `${id}.open`), "");
        const second = await first.reopen({ sendSignal: (...signal) => sent.push(signal) });
        const job = await until(() => {
          const found = second.jobs.get(id);
          return found?.state === "running" ? null : found;
        });
        expect(job).toMatchObject({ state: kill === null ? "lost" : "killed", exit_code: null });
        await second.jobs.kill(id);
        expect(sent).toEqual([]);
        await second.jobs.close();
      }
      expect(processAlive(pid)).toBe(true);
    } finally {
      stranger.kill("SIGKILL");
    }
  });

  it.runIf(process.platform === "linux")(
    "is ended when all that is left of its leader is a zombie",
    async () => {
      const pidFile = join(temporaryFolder(), "pid");
      // sleep never asks for the status of the child that the shell left it.
      const keeper = spawn("/bin/sh", ["-c", `sleep 0.3 & echo $! >${pidFile}; exec sleep 60`], {
        stdio: "ignore",
      });
      try {
        const pid = await pidIn(pidFile);
        const table = createProcessTable("linux");
        const zombie = await until(() => {
          const row = table?.find(pid);
          return row?.ended ? row : null;
        });
        const first = await openJobs();
        const { id } = await first.jobs.start(spec("exit 0"));
        await first.ended(id);
        await first.jobs.close();
        const path = join(first.folder, `${id}.json`);
        const record = JSON.parse(readFileSync(path, "utf8"));
        const stale = { ...record, state: "running", ended: null, exit_code: null, pid, start: zombie.start };
        writeFileSync(path, JSON.stringify(stale));
        writeFileSync(join(first.folder, `${id}.open`), "");
        const second = await first.reopen();
        expect(second.jobs.get(id)).toMatchObject({ state: "exited", exit_code: 0 });
      } finally {
        keeper.kill("SIGKILL");
      }
    },
  );

  it("of another boot is never looked for", async () => {
    const first = await openJobs();
    const { id, pid } = await first.jobs.start(spec("sleep 60"));
    const path = join(first.folder, `${id}.json`);
    await first.jobs.close();
    writeFileSync(path, readFileSync(path, "utf8").replace(/"boot":"[^"]*"/, '"boot":"another"'));
    const second = await first.reopen();
    expect(second.jobs.get(id)).toMatchObject({ state: "lost" });
    expect(processAlive(pid ?? 0)).toBe(true);
    process.kill(-(pid ?? 0), "SIGKILL");
  });
});

describe("the folder at start", () => {
  it("skips what is damaged, reports it, leaves it in place, and never gives its id away", async () => {
    const folder = temporaryFolder();
    const secret = join(temporaryFolder(), "secret.json");
    writeFileSync(secret, "{}");
    const bad: Record<string, string> = {
      "11111111": "",
      "22222222": "{",
      "33333333": '{"version":1}',
      "44444444": "\0".repeat(100),
      "55555555": "x".repeat(2_000_000),
    };
    for (const [id, text] of Object.entries(bad)) {
      writeFileSync(join(folder, `${id}.json`), text);
      writeFileSync(join(folder, `${id}.open`), "");
    }
    symlinkSync(secret, join(folder, "66666666.json"));
    mkdirSync(join(folder, "77777777.json"));
    writeFileSync(join(folder, "notes.txt"), "mine");
    writeFileSync(join(folder, ".11111111.json.abc.tmp"), "half");
    const ids = ["22222222", "66666666", "99999999"];
    const { jobs, warnings, ended } = await openJobs({
      jobsFolder: folder,
      createId: () => ids.shift() ?? "88888888",
    });
    expect(jobs.list()).toEqual([]);
    const named = ["11111111", "22222222", "33333333", "44444444", "55555555", "66666666", "77777777"];
    for (const id of named) {
      expect(warnings.filter((warning) => warning.includes(id))).toHaveLength(1);
      expect(existsSync(join(folder, `${id}.json`))).toBe(true);
      await expect(jobs.read({ job: id })).rejects.toMatchObject({ code: "not_found" });
    }
    expect(readFileSync(join(folder, "notes.txt"), "utf8")).toBe("mine");
    expect(existsSync(join(folder, ".11111111.json.abc.tmp"))).toBe(false);
    const job = await ended((await jobs.start(spec("exit 0"))).id);
    expect(job.id).toBe("99999999");
  });

  it("removes the empty log of a job that a kill kept from being started, and no other", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "11111111.log"), "");
    writeFileSync(join(folder, "22222222.log"), "said something");
    await openJobs({ jobsFolder: folder });
    expect(readdirSync(folder)).toEqual(["22222222.log"]);
  });

  it("starts whatever stands in the place of a job's log, and shows the job", async () => {
    const first = await openJobs();
    const { id } = await first.ended((await first.jobs.start(spec("echo said"))).id);
    await first.jobs.close();
    const log = join(first.folder, `${id}.log`);
    rmSync(log);
    symlinkSync(log, log);
    writeFileSync(join(first.folder, `${id}.open`), "");
    const second = await openJobs({ jobsFolder: first.folder });
    expect(second.jobs.list()).toMatchObject([{ id, state: "exited", exit_code: 0 }]);
    await expect(second.jobs.read({ job: id })).rejects.toMatchObject({ code: "not_found" });
  });

  it("finds a running job whose mark or pid was not written before the daemon died", async () => {
    const first = await openJobs();
    const { id, pid } = await first.jobs.start(spec("sleep 60"));
    await first.jobs.close();
    const path = join(first.folder, `${id}.json`);
    if (process.platform === "linux") {
      writeFileSync(
        path,
        JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), pid: null, start: null }),
      );
      const second = await first.reopen();
      expect(second.jobs.get(id)).toMatchObject({ state: "running", pid });
      await second.jobs.close();
    }
    const third = await first.reopen();
    expect(await third.jobs.kill(id)).toMatchObject({ state: "killed" });
    expect(processAlive(pid ?? 0)).toBe(false);
  });

  it("a job whose daemon died between its record and its start is failed, not lost", async () => {
    const first = await openJobs();
    const { id } = await first.jobs.start(spec("exit 0"));
    const ended = await first.ended(id);
    await first.jobs.close();
    const [never, spoke] = ["0000000a", "0000000b"];
    const record = JSON.parse(readFileSync(join(first.folder, `${ended.id}.json`), "utf8"));
    for (const other of [never, spoke]) {
      const unstarted = { ...record, id: other, pid: null, start: null, state: "running", exit_code: null };
      writeFileSync(
        join(first.folder, `${other}.json`),
        JSON.stringify({ ...unstarted, ended: null, bytes: 0 }),
      );
      writeFileSync(join(first.folder, `${other}.open`), "");
      writeFileSync(join(first.folder, `${other}.log`), other === spoke ? "it ran\n" : "");
    }
    const second = await first.reopen();
    expect(second.jobs.get(never)).toMatchObject({
      state: "failed",
      exit_code: null,
      reason: expect.stringContaining("never started"),
    });
    expect(second.jobs.get(spoke)).toMatchObject({ state: "lost" });
  });

  it("reads old records only when they are asked for", async () => {
    const first = await openJobs();
    const { id } = await first.jobs.start(spec("exit 0"));
    const old = await first.ended(id);
    await first.jobs.close();
    const text = readFileSync(join(first.folder, `${id}.json`), "utf8");
    for (let n = 0; n < 300; n += 1) {
      const other = (0x1000_0000 + n).toString(16);
      writeFileSync(join(first.folder, `${other}.json`), n === 7 ? "damaged" : text.replaceAll(id, other));
    }
    const second = await first.reopen();
    expect(second.warnings).toEqual([]);
    expect(second.jobs.get(id)).toEqual(old);
    expect(second.jobs.list()).toHaveLength(300);
    expect(second.warnings).toHaveLength(1);
  });

  it("removes the oldest ended jobs when all together are too large, and never one that runs", async () => {
    const limits = { maxLogBytes: 1e9, maxTotalBytes: 250_000, keepDays: 30, freeDiskFloorBytes: 0 };
    const { jobs, ended, folder } = await openJobs({ limits });
    const flood = "head -c 100000 /dev/zero";
    const running = await jobs.start(spec(`${flood}; sleep 60`));
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push((await ended((await jobs.start(spec(flood))).id)).id);
    await until(() => jobs.list().length === 2);
    expect(jobs.list().map((job) => job.id)).toEqual([ids[2], running.id]);
    await until(() => readdirSync(folder).filter((name) => name.startsWith(ids[0] ?? "?")).length === 0);
  });
});

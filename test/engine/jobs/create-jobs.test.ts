import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { cleanUp, openJobs, pidIn, processAlive, spec, temporaryFolder, until, wholeLog } from "./harness.ts";

afterEach(cleanUp);
const linux = process.platform === "linux";

describe("start", () => {
  it("runs a command in its folder, announces start and end once and in order, and keeps its status", async () => {
    const { jobs, ended, changes } = await openJobs();
    const owner = { workspace: "w", tab: "t", agent: "a" };
    const started = await jobs.start(spec("pwd; echo out; echo err >&2; exit 3", owner));
    expect(started).toMatchObject({ ...owner, state: "running", exit_code: null, ended: null, reason: null });
    expect(started.id).toMatch(/^[0-9a-f]{8}$/);
    const job = await ended(started.id);
    expect(job).toMatchObject({ ...owner, state: "exited", exit_code: 3, pid: started.pid });
    expect(await wholeLog(jobs, job.id)).toBe(`${realpathSync(tmpdir())}\nout\nerr\n`);
    expect(job.bytes).toBe((await jobs.read({ job: job.id })).size);
    expect(changes.map((change) => [change.kind, change.job.state])).toEqual([
      ["started", "running"],
      ["finished", "exited"],
    ]);
  });

  it("keeps all its files private, whatever the umask, and leaves the umask of the job alone", async () => {
    const before = process.umask(0o027);
    try {
      const { jobs, ended, folder } = await openJobs({ jobsFolder: join(temporaryFolder(), "jobs") });
      const job = await ended((await jobs.start(spec("umask"))).id);
      expect(await wholeLog(jobs, job.id)).toBe("0027\n");
      for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      expect(readFileSync(join(folder, `${job.id}.exit`), "utf8")).toBe("0\n");
    } finally {
      process.umask(before);
    }
  });

  it("gives the job the daemon's environment without anything of ours but its mark", async () => {
    const environment = {
      PATH: process.env.PATH,
      SALLYPORT_TOKEN: "secret",
      SALLYPORT_HOME: "/x",
      KEEP: "é",
    };
    const { jobs, ended } = await openJobs({ environment });
    const job = await ended(
      (await jobs.start(spec("env | grep -e SALLYPORT -e KEEP | sort; [ -t 0 ] || read x || echo eof"))).id,
    );
    expect(await wholeLog(jobs, job.id)).toBe(`KEEP=é\nSALLYPORT_JOB=${job.id}\neof\n`);
  });

  it("lists a job whose folder is missing as failed, with the reason and its end", async () => {
    const { jobs, changes } = await openJobs();
    const job = await jobs.start(spec("echo x", { cwd: "/no/such/folder" }));
    expect(job).toMatchObject({ state: "failed", pid: null, exit_code: null });
    expect(job.reason).toContain("/no/such/folder does not exist");
    expect(job.ended).not.toBeNull();
    expect(jobs.list()).toEqual([job]);
    expect(changes.map((change) => change.kind)).toEqual(["started", "finished"]);
    expect(await jobs.read({ job: job.id })).toMatchObject({ size: 0, output: "", done: true });
    expect(jobs.runningCount()).toBe(0);
  });

  it("fails with a reason when the environment leaves no room for the command", async () => {
    const { jobs } = await openJobs({ environment: { HUGE: "x".repeat(3 * 1024 * 1024) } });
    const job = await jobs.start(spec("echo x"));
    expect(job.state).toBe("failed");
    expect(job.reason).toMatch(/E2BIG/);
  });

  it("fails with a reason when there is no shell", async () => {
    const { jobs } = await openJobs({ shell: "/no/such/shell" });
    expect(await jobs.start(spec("echo x"))).toMatchObject({ state: "failed", pid: null });
  });

  it("runs a command of the greatest size and refuses a longer one", async () => {
    const { jobs, ended } = await openJobs();
    const command = `printf %s 'é${"x".repeat(131_071 - 22)}' | wc -c`;
    expect(Buffer.byteLength(command)).toBe(131_071);
    const job = await ended((await jobs.start(spec(command))).id);
    expect((await wholeLog(jobs, job.id)).trim()).toBe("131051");
    await expect(jobs.start(spec(`${command} `))).rejects.toMatchObject({ code: "too_large" });
    expect(jobs.list()).toHaveLength(1);
  });

  it("starts nothing and leaves no file when the check before the spawn refuses", async () => {
    const { jobs, folder, changes } = await openJobs();
    const witness = join(temporaryFolder(), "ran");
    const revoked = (): void => {
      throw new Error("revoked");
    };
    await expect(jobs.start(spec(`touch ${witness}`), revoked)).rejects.toThrow("revoked");
    expect(readdirSync(folder)).toEqual([]);
    expect([jobs.list(), changes, existsSync(witness)]).toEqual([[], [], false]);
  });

  it("never takes the id, the log or the place of another job", async () => {
    const ids = ["aaaaaaaa", "aaaaaaaa", "aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd"];
    const folder = temporaryFolder();
    const victim = join(temporaryFolder(), "victim");
    writeFileSync(victim, "keep");
    symlinkSync(victim, join(folder, "bbbbbbbb.log"));
    writeFileSync(join(folder, "cccccccc.exit"), "0\n");
    const { jobs, ended } = await openJobs({ jobsFolder: folder, createId: () => ids.shift() ?? "eeeeeeee" });
    const first = await ended((await jobs.start(spec("echo one"))).id);
    const second = await ended((await jobs.start(spec("echo two"))).id);
    expect([first.id, second.id]).toEqual(["aaaaaaaa", "dddddddd"]);
    expect(await wholeLog(jobs, first.id)).toBe("one\n");
    expect(readFileSync(victim, "utf8")).toBe("keep");
  });

  it("refuses when too many run, when the disk is nearly full, and when it is closing", async () => {
    let free = 1_000;
    const { jobs } = await openJobs({
      maxRunning: 1,
      freeDiskBytes: () => Promise.resolve(free),
      limits: { maxLogBytes: 1e9, maxTotalBytes: 1e9, keepDays: 1, freeDiskFloorBytes: 1_000 },
    });
    const job = await jobs.start(spec("sleep 30"));
    await expect(jobs.start(spec("echo x"))).rejects.toMatchObject({ code: "overloaded" });
    await jobs.kill(job.id);
    free = 999;
    await expect(jobs.start(spec("echo x"))).rejects.toMatchObject({ code: "disk_full" });
    await jobs.close();
    free = 1_000;
    await expect(jobs.start(spec("echo x"))).rejects.toMatchObject({ code: "overloaded" });
    expect(jobs.list()).toHaveLength(1);
  });

  it("runs fifty jobs at once, each with its own log and status", async () => {
    const { jobs, ended } = await openJobs();
    const started = await Promise.all(
      [...Array(50).keys()].map((n) => jobs.start(spec(`echo job ${n}; exit ${n}`))),
    );
    expect(new Set(started.map((job) => job.id)).size).toBe(50);
    for (const [n, { id }] of started.entries()) {
      expect(await ended(id)).toMatchObject({ state: "exited", exit_code: n });
      expect(await wholeLog(jobs, id)).toBe(`job ${n}\n`);
    }
  });

  it("says that jobs are not supported where there are no process groups", async () => {
    const { jobs } = await openJobs({ platform: "win32" });
    await expect(jobs.start(spec("echo x"))).rejects.toMatchObject({ code: "not_supported" });
    expect(jobs.list()).toEqual([]);
  });
});

describe("the end of a job", () => {
  it("waits for the rest of the group and calls the output complete when it ended in time", async () => {
    const { jobs, ended } = await openJobs();
    const job = await ended((await jobs.start(spec("(sleep 0.3; echo late) & echo early"))).id);
    expect(await jobs.read({ job: job.id })).toMatchObject({
      output: "early\nlate\n",
      done: true,
      incomplete: false,
    });
  });

  it("calls the output incomplete when members of the group live on, which a later kill ends", async () => {
    const { jobs, ended, folder } = await openJobs();
    const pidFile = join(temporaryFolder(), "pid");
    const job = await ended((await jobs.start(spec(`sleep 60 & echo $! >${pidFile}`))).id);
    const pid = await pidIn(pidFile);
    expect(job).toMatchObject({ state: "exited", exit_code: 0 });
    expect(await jobs.read({ job: job.id })).toMatchObject({ done: true, incomplete: true });
    expect(processAlive(pid)).toBe(true);
    expect(existsSync(join(folder, `${job.id}.open`))).toBe(true);
    expect(await jobs.kill(job.id)).toEqual(job);
    await until(() => !processAlive(pid));
    expect(existsSync(join(folder, `${job.id}.open`))).toBe(false);
  });

  it("is lost when everything was killed from outside", async () => {
    const { jobs, ended } = await openJobs();
    const { id, pid } = await jobs.start(spec("sleep 60"));
    process.kill(-(pid ?? 0), "SIGKILL");
    const job = await ended(id);
    expect(job).toMatchObject({ state: "lost", exit_code: null });
    expect(job.reason).toMatch(/killed from outside/);
  });

  it("is exited when the job signals its own group", async () => {
    const { jobs, ended } = await openJobs();
    const { id } = await jobs.start(spec("kill -TERM 0; sleep 60"));
    expect(await ended(id)).toMatchObject({ state: "exited", exit_code: 143 });
  });
});

describe("kill", () => {
  it("ends a job with SIGTERM and says so", async () => {
    const { jobs, folder, changes } = await openJobs();
    const { id } = await jobs.start(spec("sleep 60"));
    expect(jobs.runningCount()).toBe(1);
    const job = await jobs.kill(id);
    expect(job).toMatchObject({ state: "killed", exit_code: 143, reason: null });
    expect(jobs.runningCount()).toBe(0);
    expect(changes.map((change) => change.kind)).toEqual(["started", "finished"]);
    expect(changes[1]?.job).toEqual(job);
    expect(JSON.parse(readFileSync(join(folder, `${id}.json`), "utf8"))).toMatchObject({ state: "killed" });
  });

  it("lets a job clean up, and ends with SIGKILL one that ignores SIGTERM", async () => {
    const { jobs } = await openJobs();
    const polite = await jobs.start(spec("trap 'echo bye; exit 0' TERM; echo on; sleep 60 & wait"));
    const deaf = await jobs.start(spec("trap '' TERM; echo on; sleep 60; sleep 60"));
    for (const { id } of [polite, deaf]) await until(() => (jobs.get(id)?.bytes ?? 0) > 0);
    const [first, second] = await Promise.all([jobs.kill(polite.id), jobs.kill(deaf.id)]);
    expect(first).toMatchObject({ state: "killed", exit_code: 0 });
    expect(await wholeLog(jobs, polite.id)).toBe("on\nbye\n");
    expect(second).toMatchObject({ state: "killed", exit_code: 137 });
  });

  it.runIf(linux)(
    "ends descendants that left the group: setsid, double forks, one that ignores SIGTERM",
    async () => {
      const { jobs } = await openJobs();
      const folder = temporaryFolder();
      const commands = [
        `setsid sh -c 'echo $$ >${folder}/a; exec sleep 60' &`,
        `(setsid sh -c 'echo $$ >${folder}/b; trap "" TERM; sleep 60; sleep 60' &)`,
        `setsid sh -c '(sh -c "echo \\$\\$ >${folder}/c; exec sleep 60" &)'`,
        `sh -c 'trap "" TERM HUP; echo $$ >${folder}/d; sleep 60; sleep 60' &`,
        "wait",
      ];
      const { id } = await jobs.start(spec(commands.join("\n")));
      const pids = await Promise.all(["a", "b", "c", "d"].map((name) => pidIn(join(folder, name))));
      expect(pids.every(processAlive)).toBe(true);
      expect(await jobs.kill(id)).toMatchObject({ state: "killed" });
      await until(() => !pids.some(processAlive));
    },
  );

  it("is one kill for all who ask at once, and leaves an ended job as it is", async () => {
    const { jobs, changes } = await openJobs();
    const { id } = await jobs.start(spec("sleep 60"));
    const all = await Promise.all([jobs.kill(id), jobs.kill(id), jobs.kill(id)]);
    expect(new Set(all.map((job) => job.ended)).size).toBe(1);
    expect(await jobs.kill(id)).toEqual(all[0]);
    expect(changes).toHaveLength(2);
    await expect(jobs.kill("00000000")).rejects.toMatchObject({ code: "not_found" });
    await expect(jobs.kill("../../etc")).rejects.toMatchObject({ code: "not_found" });
  });

  it("writes the intent before the signal and signals nothing when the check before it refuses", async () => {
    const { jobs, folder } = await openJobs();
    const { id, pid } = await jobs.start(spec("sleep 60"));
    const read = (): unknown => JSON.parse(readFileSync(join(folder, `${id}.json`), "utf8")).kill;
    const seen: unknown[] = [];
    const check = (): void => {
      seen.push(read());
      if (seen.length === 2) throw new Error("revoked");
    };
    await expect(jobs.kill(id, check)).rejects.toThrow("revoked");
    expect(seen).toEqual([null, expect.objectContaining({ reason: null })]);
    expect([read(), processAlive(pid ?? 0), jobs.get(id)?.state]).toEqual([null, true, "running"]);
    expect(await jobs.kill(id)).toMatchObject({ state: "killed" });
  });

  it("keeps the status of a job that had ended by itself when only the rest is killed", async () => {
    const { jobs, folder } = await openJobs();
    const { id } = await jobs.start(spec("sleep 60 & exit 5"));
    await until(() => existsSync(join(folder, `${id}.exit`)));
    expect(await jobs.kill(id)).toMatchObject({ state: "exited", exit_code: 5 });
    expect(await jobs.read({ job: id })).toMatchObject({ incomplete: false });
  });
});

describe("the guard of the logs", () => {
  const limits = { maxLogBytes: 200_000, maxTotalBytes: 1e9, keepDays: 30, freeDiskFloorBytes: 0 };

  it("ends a flood at the cap, with the reason in the job and in the last line of its log", async () => {
    const { jobs, ended } = await openJobs({ limits });
    const job = await ended((await jobs.start(spec("yes | head -c 500000000"))).id);
    expect(job).toMatchObject({ state: "killed", reason: "its log reached 200,000 bytes" });
    const { output } = await jobs.read({ job: job.id, tail: 1 });
    expect(output).toBe("[sallyport ended this job: its log reached 200,000 bytes]\n");
  });

  it("ends what writes when the disk is nearly full, and leaves a quiet job alone", async () => {
    let free = 1e9;
    const { jobs, ended } = await openJobs({
      limits: { ...limits, maxLogBytes: 1e9, freeDiskFloorBytes: 1e6 },
      freeDiskBytes: () => Promise.resolve(free),
    });
    const quiet = await jobs.start(spec("sleep 60"));
    const { id } = await jobs.start(spec("while :; do echo x; sleep 0.05; done"));
    free = 5e5;
    const job = await ended(id);
    expect(job.state).toBe("killed");
    expect(job.reason).toBe("the disk has only 500,000 bytes left (1,000,000 are kept free)");
    expect(jobs.get(quiet.id)?.state).toBe("running");
  });

  it.runIf(linux)("ends what an ended job left behind when that floods its log", async () => {
    const { jobs, ended, folder } = await openJobs({ limits });
    const pidFile = join(temporaryFolder(), "pid");
    const flood = `setsid sh -c 'echo $$ >${pidFile}; sleep 0.5; yes | head -c 500000000' &`;
    const job = await ended((await jobs.start(spec(flood))).id);
    const pid = await pidIn(pidFile);
    await until(() => !processAlive(pid));
    expect(jobs.get(job.id)?.state).toBe("exited");
    await until(() => !existsSync(join(folder, `${job.id}.open`)));
    expect((await jobs.read({ job: job.id, tail: 1 })).output).toMatch(/its log reached 200,000 bytes/);
  });
});

describe("follow", () => {
  it("tells of growth while the job runs, and last of its end", async () => {
    const { jobs } = await openJobs();
    const heard = join(temporaryFolder(), "heard");
    const command = `echo one; until [ -e ${heard} ]; do sleep 0.02; done; echo two`;
    const { id } = await jobs.start(spec(command));
    const told: [number, boolean][] = [];
    const last = new Promise<void>((resolve) => {
      jobs.follow(id, (size, running) => {
        told.push([size, running]);
        writeFileSync(heard, "");
        if (!running) resolve();
      });
    });
    await last;
    expect(told.at(-1)).toEqual([8, false]);
    expect(told[0]).toEqual([4, true]);
    expect(told.filter(([, running]) => !running)).toHaveLength(1);
  });

  it("tells at once of the end of an ended job, and nothing after it was stopped", async () => {
    const { jobs, ended } = await openJobs();
    const { id } = await ended((await jobs.start(spec("echo x"))).id);
    const stopped: boolean[] = [];
    jobs.follow(id, () => stopped.push(true))();
    const told = await new Promise((resolve) => jobs.follow(id, (size, running) => resolve([size, running])));
    expect(told).toEqual([2, false]);
    expect(stopped).toEqual([]);
    expect(() => jobs.follow("00000000", () => undefined)).toThrow(
      expect.objectContaining({ code: "not_found" }),
    );
  });

  it("goes on for the others when a listener throws", async () => {
    const { jobs, warnings } = await openJobs();
    const { id } = await jobs.start(spec("echo x; sleep 0.3"));
    jobs.follow(id, () => {
      throw new Error("closed socket");
    });
    await new Promise<void>((resolve) => jobs.follow(id, (_size, running) => running || resolve()));
    expect(warnings.some((warning) => warning.includes("closed socket"))).toBe(true);
  });
});

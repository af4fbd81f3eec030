import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { CallSpec } from "../../../src/engine/jobs/jobs.ts";
import { cleanUp, openJobs, pidIn, processAlive, temporaryFolder, until } from "./harness.ts";

afterEach(cleanUp);

function call(command: string, more: Partial<CallSpec> = {}): CallSpec & { readonly told: string[] } {
  const told: string[] = [];
  return {
    command,
    cwd: tmpdir(),
    onOutput: (text) => told.push(text),
    signal: new AbortController().signal,
    told,
    ...more,
  };
}

describe("runCall", () => {
  it("tells output as it comes and gives it whole with the status, and leaves no file", async () => {
    const { jobs, folder, changes } = await openJobs();
    const heard = temporaryFolder();
    const untilHeard = (mark: string) => `until [ -e ${heard}/${mark} ]; do sleep 0.02; done`;
    const told: string[] = [];
    const spec = call(
      `echo one; ${untilHeard("one")}; printf 'caf\\303'; ${untilHeard("caf")}; printf '\\251'; exit 4`,
      {
        onOutput(text) {
          told.push(text);
          for (const mark of ["one", "caf"]) if (text.includes(mark)) writeFileSync(join(heard, mark), "");
        },
      },
    );
    expect(await jobs.runCall(spec)).toEqual({
      exitCode: 4,
      output: "one\ncafé",
      cancelled: false,
      error: null,
    });
    expect(told).toEqual(["one\n", "caf", "é"]);
    await until(() => readdirSync(folder).length === 0);
    expect([jobs.list(), changes, jobs.runningCount()]).toEqual([[], [], 0]);
  });

  it("is hidden from everything that knows jobs while it runs", async () => {
    const { jobs, folder } = await openJobs();
    const stop = new AbortController();
    const running = jobs.runCall(call("sleep 60", { signal: stop.signal }));
    const name = await until(() => readdirSync(folder).find((file) => file.endsWith(".log")));
    const id = name.slice(0, 8);
    expect([jobs.list(), jobs.get(id), jobs.runningCount()]).toEqual([[], null, 0]);
    await expect(jobs.read({ job: id })).rejects.toMatchObject({ code: "not_found" });
    await expect(jobs.kill(id)).rejects.toMatchObject({ code: "not_found" });
    stop.abort();
    expect(await running).toMatchObject({ cancelled: true });
  });

  describe("that is listed", () => {
    const place = { workspace: "w", tab: "t", agent: "a", command: "sleep [secret]" };

    it("is a job while it runs, is ended as one, and is kept", async () => {
      const { jobs, changes } = await openJobs();
      const running = jobs.runCall(
        call("echo on; sleep 60", { listed: { ...place, isSecret: () => false } }),
      );
      const { id } = await until(() => changes[0]?.job);
      expect(jobs.get(id)).toMatchObject({ ...place, state: "running" });
      expect(jobs.runningCount()).toBe(1);
      while ((await jobs.read({ job: id })).output !== "on\n") await delay(10);
      expect(await jobs.kill(id)).toMatchObject({ state: "killed", exit_code: 143 });
      expect(await running).toMatchObject({ exitCode: 143, output: "on\n", cancelled: false, error: null });
      expect(changes.map(({ kind, job }) => [kind, job.id])).toEqual([
        ["started", id],
        ["finished", id],
      ]);
      expect((await jobs.read({ job: id })).output).toBe("on\n");
    });

    it("loses what it printed where a key was in it", async () => {
      const { jobs } = await openJobs();
      const result = await jobs.runCall(
        call("echo key-1234", { listed: { ...place, isSecret: () => true } }),
      );
      expect(result.output).toBe("key-1234\n");
      const { id = "" } = jobs.list()[0] ?? {};
      const { output, size } = await jobs.read({ job: id });
      expect(output).toBe("[sallyport removed this output: a key was in it]\n");
      expect(jobs.get(id)).toMatchObject({ state: "exited", exit_code: 0, bytes: size });
    });

    it("is ended when the daemon ends", async () => {
      const { jobs, changes } = await openJobs();
      const running = jobs.runCall(call("sleep 60", { listed: { ...place, isSecret: () => false } }));
      await until(() => changes[0]);
      await jobs.close();
      expect(await running).toMatchObject({ exitCode: 143 });
    });
  });

  it("forwards a flood in bounded parts and counts exactly what it left out", async () => {
    const { jobs } = await openJobs();
    const bytes = 30_000_000;
    const spec = call(`yes 0123456 | head -c ${bytes}`);
    const result = await jobs.runCall(spec);
    expect(result).toMatchObject({ exitCode: 0, error: null });
    for (const text of [spec.told.join(""), result.output]) {
      const gaps = [...text.matchAll(/\n\[… ([\d,]+) bytes left out …\]\n/g)];
      const leftOut = gaps.reduce((sum, gap) => sum + Number(gap[1]?.replaceAll(",", "")), 0);
      const marks = gaps.reduce((sum, gap) => sum + gap[0].length, 0);
      expect(gaps.length).toBeGreaterThan(0);
      expect(text.length - marks + leftOut).toBe(bytes);
    }
    expect(result.output.length).toBeLessThan(66_000);
    for (const text of spec.told) expect(text.length).toBeLessThan(66_000);
  });

  it("ends the whole tree when it is aborted, also what left the group and ignores SIGTERM", async () => {
    const { jobs, folder } = await openJobs();
    const pids = temporaryFolder();
    const stop = new AbortController();
    const leave = process.platform === "linux" ? "setsid" : "";
    const command = `${leave} sh -c 'trap "" TERM; echo $$ >${pids}/a; sleep 60; sleep 60' & echo on; wait`;
    const running = jobs.runCall(call(command, { signal: stop.signal }));
    const pid = await pidIn(join(pids, "a"));
    stop.abort();
    const result = await running;
    expect(result).toMatchObject({ exitCode: 143, cancelled: true, error: null });
    expect(result.output).toMatch(/^on\n/);
    await until(() => !processAlive(pid));
    await until(() => readdirSync(folder).length === 0);
  });

  it("starts nothing when it was aborted before", async () => {
    const { jobs, folder } = await openJobs();
    const witness = join(temporaryFolder(), "ran");
    const result = await jobs.runCall(call(`touch ${witness}`, { signal: AbortSignal.abort() }));
    expect(result).toEqual({ exitCode: null, output: "", cancelled: true, error: null });
    expect([existsSync(witness), readdirSync(folder)]).toEqual([false, []]);
  });

  it("says why it could not start", async () => {
    const { jobs, folder } = await openJobs();
    const result = await jobs.runCall(call("echo x", { cwd: "/no/such/folder" }));
    expect(result).toMatchObject({ exitCode: null, output: "", cancelled: false });
    expect(result.error).toContain("does not exist");
    await until(() => readdirSync(folder).length === 0);
  });

  it("leaves a background child alone when the call itself has ended, and does not wait for it", async () => {
    const { jobs, folder } = await openJobs();
    const pids = temporaryFolder();
    const result = await jobs.runCall(call(`sleep 60 & echo $! >${pids}/a; echo done`));
    expect(result).toMatchObject({ exitCode: 0, output: "done\n" });
    const pid = await pidIn(join(pids, "a"));
    expect(processAlive(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
    // The log is kept while somebody may write to it, and removed after.
    await until(() => readdirSync(folder).length === 0);
  });

  it("is ended with the daemon's jobs", async () => {
    const { jobs } = await openJobs();
    const pids = temporaryFolder();
    const running = jobs.runCall(call(`echo $$ >${pids}/a; sleep 60`));
    const pid = await pidIn(join(pids, "a"));
    await jobs.close();
    expect(await running).toMatchObject({ exitCode: 143, cancelled: false, error: "the daemon stopped" });
    expect(processAlive(pid)).toBe(false);
  });
});

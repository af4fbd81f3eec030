import { spawn } from "node:child_process";
import { describe, expect, it, vi } from "vitest";
import { createProcessTable } from "../../../src/engine/jobs/create-process-table.ts";
import { jobInEnvironment, parseProcStat } from "../../../src/engine/jobs/linux-process-table.ts";
import { type ProcessRow, restAfterScan, shareScans } from "../../../src/engine/jobs/process-table.ts";
import { createPsProcessTable, parsePs } from "../../../src/engine/jobs/ps-process-table.ts";

const tail = "S 10 20 30 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2 3";

describe("parseProcStat", () => {
  it.each([
    ["a plain name", `42 (sleep) ${tail}`],
    ["a name with parentheses and spaces", `42 (a) S 1 2 (b) ${tail}`],
    ["a name with a newline", `42 (a\n) R 1 ${tail}`.replace(`) R 1 ${tail}`, `) R 1) ${tail}`)],
  ])("reads %s", (_name, text) => {
    expect(parseProcStat(text)).toEqual({
      pid: 42,
      ppid: 10,
      pgrp: 20,
      start: 987654,
      ended: false,
      kernel: false,
    });
  });

  it("calls a zombie ended and tells a kernel thread", () => {
    expect(parseProcStat(`42 (x) ${tail.replace("S", "Z")}`)?.ended).toBe(true);
    expect(parseProcStat(`42 (x) ${tail.replace("4194304", "2129984")}`)?.kernel).toBe(true);
  });

  it.each([[""], ["42"], ["42 (x"], ["42 (x) S 1"], ["x (x) S"]])("makes nothing of %j", (text) => {
    expect(parseProcStat(text)).toBeNull();
  });
});

describe("jobInEnvironment", () => {
  it.each([
    ["SALLYPORT_JOB=0a1b2c3d\0X=1", "0a1b2c3d"],
    ["X=1\0SALLYPORT_JOB=0a1b2c3d\0", "0a1b2c3d"],
    ["X=1\0SALLYPORT_JOB=0a1b2c3d", "0a1b2c3d"],
    ["XSALLYPORT_JOB=0a1b2c3d", null],
    ["A=SALLYPORT_JOB=0a1b2c3d", null],
    ["SALLYPORT_JOB=0a1b2c3d4", null],
    ["SALLYPORT_JOB=", null],
    ["", null],
  ])("of %j is %j", (environment, job) => {
    expect(jobInEnvironment(environment)).toBe(job);
  });
});

describe("parsePs", () => {
  it("reads what macOS and procps print and skips the rest", () => {
    const text = [
      "  501     1   501 Ss   Mon Nov 30 12:27:01 2026    ",
      "  502   501   501 Z+   Tue Dec  1 00:00:00 2026",
      "  PID  PPID  PGID STAT STARTED",
      "nonsense",
    ].join("\n");
    expect(parsePs(text)).toEqual([
      { pid: 501, ppid: 1, pgrp: 501, start: 1796041621, ended: false, job: null },
      { pid: 502, ppid: 501, pgrp: 501, start: 1796083200, ended: true, job: null },
    ]);
  });
});

const tables = [{ name: "of this platform", table: createProcessTable(process.platform) }];
if (process.platform !== "win32")
  tables.push({ name: "by ps", table: createPsProcessTable(process.platform) });

describe.each(tables)("the process table $name", ({ table }) => {
  it("finds a child in a scan and by its pid, with one identity, and not after its end", async () => {
    if (table === null) return;
    const child = spawn("sleep", ["30"], { detached: true, stdio: "ignore" });
    const ended = new Promise((resolve) => child.on("exit", resolve));
    const pid = child.pid ?? 0;
    const found = table.find(pid);
    expect(found).toMatchObject({ pid, ppid: process.pid, pgrp: pid, ended: false });
    const rows = await table.scan(found?.start ?? 0);
    expect(rows.find((row) => row.pid === pid)).toMatchObject({ start: found?.start, pgrp: pid });
    child.kill("SIGKILL");
    await ended;
    expect(table.find(pid)).toBeNull();
  });
});

it("names the boot the same way twice", () => {
  const [one, two] = [createProcessTable(process.platform), createProcessTable(process.platform)];
  expect(one?.bootId).toBe(two?.bootId);
  if (process.platform === "linux") expect(one?.bootId).toMatch(/^[0-9a-f-]{36}$/);
});

it("has no process table on Windows", () => {
  expect(createProcessTable("win32")).toBeNull();
});

describe("shareScans", () => {
  const noRest = (): Promise<void> => Promise.resolve();

  it("flood: calls that come one by one while it rests from a scan share the next", async () => {
    let scans = 0;
    let wake: () => void = () => undefined;
    const scan = shareScans(
      () => {
        scans += 1;
        return Promise.resolve([]);
      },
      () => new Promise((resolve) => (wake = resolve)),
    );
    await scan(0);
    const later: Promise<unknown>[] = [];
    for (let call = 0; call < 50; call++) {
      later.push(scan(0));
      await Promise.resolve();
    }
    expect(scans).toBe(1);
    wake();
    await Promise.all(later);
    expect(scans).toBe(2);
  });

  it.each([
    [1, 3],
    [17, 51],
    [500, 100],
  ])("rests after a scan of %d ms for %d ms", (tookMs, restMs) => {
    expect(restAfterScan(tookMs)).toBe(restMs);
  });

  it("begins a scan after each call, but lets those that wait share one", async () => {
    const releases: ((rows: ProcessRow[]) => void)[] = [];
    const asked: number[] = [];
    const scan = shareScans((since) => {
      asked.push(since);
      return new Promise((resolve) => releases.push(resolve));
    }, noRest);
    const first = scan(5);
    const second = scan(9);
    const third = scan(3);
    releases[0]?.([]);
    await first;
    await vi.waitFor(() => expect(releases).toHaveLength(2), { timeout: 60_000 });
    releases[1]?.([]);
    await Promise.all([second, third]);
    expect(asked).toEqual([5, 3]);
  });

  it("tells all that wait of a failure and goes on afterwards", async () => {
    let fail = true;
    const scan = shareScans(() => (fail ? Promise.reject(new Error("no ps")) : Promise.resolve([])), noRest);
    await expect(Promise.all([scan(0), scan(0)])).rejects.toThrow("no ps");
    fail = false;
    expect(await scan(0)).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { endTree } from "../../../src/engine/jobs/end-tree.ts";
import type { ProcessRow, ProcessTable } from "../../../src/engine/jobs/process-table.ts";

const row = (pid: number, more: Partial<ProcessRow> = {}): ProcessRow => ({
  pid,
  ppid: 1,
  pgrp: pid,
  start: 60,
  ended: false,
  job: null,
  ...more,
});

/** A machine whose processes are `rows`; a signal changes them by `on`. */
function machine(rows: Map<number, ProcessRow>, on: (pid: number, signal: NodeJS.Signals) => void) {
  const sent: string[] = [];
  const processes: ProcessTable = {
    bootId: "b",
    cheap: true,
    find: (pid) => rows.get(pid) ?? null,
    scan: () => Promise.resolve([...rows.values()]),
  };
  const end = (graceMs = 0, young = false) =>
    endTree({
      processes,
      target: () => ({ id: "0000000a", leader: { pid: 100, start: 50 }, groupHeld: false }),
      graceMs,
      insistMs: 200,
      young,
      send: (pid, signal) => {
        sent.push(`${signal} ${pid}`);
        on(pid, signal);
      },
      onForce: (leaderAlive) => sent.push(`force ${leaderAlive}`),
    });
  return { sent, end };
}
const leader = row(100, { start: 50, job: "0000000a" });

describe("endTree", () => {
  it("signals the group once and what left it one by one, and stops when all are gone", async () => {
    const rows = new Map(
      [leader, row(101, { pgrp: 100 }), row(102, { job: "0000000a" })].map((r) => [r.pid, r]),
    );
    const { sent, end } = machine(rows, (pid) => {
      for (const one of pid < 0 ? [100, 101] : [pid]) rows.delete(one);
    });
    expect(await end()).toBe(0);
    expect(sent).toEqual(["SIGTERM -100", "SIGTERM 102"]);
  });

  it("a pid that changes hands between the look and the signal: sends nothing to the stranger", async () => {
    const rows = new Map([leader, row(102, { job: "0000000a" })].map((r) => [r.pid, r]));
    const { sent, end } = machine(rows, () => {
      // The first signal ends everything, and strangers get both numbers at once.
      rows.set(100, row(100, { start: 70 }));
      rows.set(102, row(102, { start: 70 }));
    });
    expect(await end()).toBe(0);
    expect(sent).toEqual(["SIGTERM -100"]);
  });

  it("sends SIGKILL after the grace, and again to what was forked meanwhile", async () => {
    let next = 200;
    const rows = new Map([[100, leader]]);
    const { sent, end } = machine(rows, (pid, signal) => {
      if (signal === "SIGTERM") return;
      rows.delete(Math.abs(pid));
      if (next < 203) rows.set(next, row(next, { job: "0000000a" }));
      next += 1;
    });
    expect(await end()).toBe(0);
    expect(sent).toEqual([
      "SIGTERM -100",
      "force true",
      "SIGKILL -100",
      "SIGKILL 200",
      "SIGKILL 201",
      "SIGKILL 202",
    ]);
  });

  it("gives up on what cannot be killed and tells how many are left", async () => {
    const rows = new Map([[100, leader]]);
    expect(await machine(rows, () => undefined).end()).toBe(1);
  });

  it("repeats SIGTERM for a job that was just started, whose shell may have lost it while forking", async () => {
    const rows = new Map([[100, leader]]);
    let terms = 0;
    const { sent, end } = machine(rows, () => {
      terms += 1;
      if (terms === 2) rows.clear();
    });
    expect(await end(10_000, true)).toBe(0);
    expect(sent).toEqual(["SIGTERM -100", "SIGTERM -100"]);
  });

  it("signals the leader's group also where processes cannot be listed", async () => {
    const rows = new Map([[100, leader]]);
    const sent: string[] = [];
    const left = await endTree({
      processes: {
        bootId: "b",
        cheap: false,
        find: (pid) => rows.get(pid) ?? null,
        scan: () => Promise.reject(new Error("no ps")),
      },
      target: () => ({ id: "0000000a", leader: { pid: 100, start: 50 }, groupHeld: false }),
      graceMs: 1_000,
      insistMs: 100,
      young: false,
      send: (pid, signal) => {
        sent.push(`${signal} ${pid}`);
        rows.clear();
      },
      onForce: () => undefined,
    });
    expect([left, sent]).toEqual([0, ["SIGTERM -100"]]);
  });
});

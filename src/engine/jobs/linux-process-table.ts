import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ProcessRow, ProcessTable } from "./process-table.ts";

const pidsPerTurn = 200;
const kernelThread = 0x0020_0000;

/** Reads `/proc` (proc(5)). Nothing is cached: a pid can change hands at any time. */
export function createLinuxProcessTable(): ProcessTable {
  return {
    bootId: readText("/proc/sys/kernel/random/boot_id")?.trim() ?? "unknown",
    cheap: true,
    find: (pid) => readRow(pid, Number.POSITIVE_INFINITY),
    async scan(sinceStart) {
      const rows: ProcessRow[] = [];
      let seen = 0;
      for (const name of readdirSync("/proc")) {
        if (!/^[1-9]\d*$/.test(name)) continue;
        const row = readRow(Number(name), sinceStart);
        if (row && row.start >= sinceStart) rows.push(row);
        seen += 1;
        if (seen % pidsPerTurn === 0) await nextTurn();
      }
      return rows;
    },
  };
}

/** The environment is read only for processes started at `environmentSince` or later: others cannot be of a job. */
function readRow(pid: number, environmentSince: number): ProcessRow | null {
  const text = readText(`/proc/${pid}/stat`);
  const stat = text === null ? null : parseProcStat(text);
  if (stat === null) return null;
  const { kernel, ...row } = stat;
  const wanted = !kernel && !row.ended && row.start >= environmentSince;
  const environment = wanted ? readText(`/proc/${pid}/environ`) : null;
  return { ...row, job: environment === null ? null : jobInEnvironment(environment) };
}

/**
 * One line of `/proc/<pid>/stat`. The name in field 2 may hold spaces, parentheses and newlines, so fields are counted
 * from the last `)`. Null for what is no such line.
 */
export function parseProcStat(
  rawText: string,
): (Omit<ProcessRow, "job"> & { readonly kernel: boolean }) | null {
  const nameEnd = rawText.lastIndexOf(")");
  const pid = Number.parseInt(rawText, 10);
  const fields = rawText.slice(nameEnd + 2).split(" ");
  const [state, ppid, pgrp] = fields;
  const start = Number(fields[19]);
  if (nameEnd < 0 || !Number.isSafeInteger(pid) || !Number.isSafeInteger(start) || fields.length < 20)
    return null;
  return {
    pid,
    ppid: Number(ppid),
    pgrp: Number(pgrp),
    start,
    ended: state === "Z" || state === "X" || state === "x",
    kernel: (Number(fields[6]) & kernelThread) !== 0,
  };
}

/** The job that a process belongs to by its environment block (`NAME=value` separated by NUL). */
export function jobInEnvironment(rawEnvironment: string): string | null {
  return /(?:^|\0)SALLYPORT_JOB=([0-9a-f]{8})(?:\0|$)/.exec(rawEnvironment)?.[1] ?? null;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // Gone meanwhile, or another user's: the same as not there.
    return null;
  }
}

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { type ProcessIdentity, parseProcStat } from "../lib/process-identity.ts";
import { runMark } from "./watchdog.ts";

const pidsPerTurn = 200;
const rounds = 20;
const pauseMs = 20;

/** A process that descends from a tool's watchdog and left its group, and when it was started. */
export interface Kin {
  readonly pid: number;
  readonly start: string;
}

/**
 * What descends from the leader of a group now and left the group, whatever it did to its environment (Linux). One whose
 * parent has ended is not found by this.
 */
export async function kinOf({ pid: leader, start: leaderStart }: ProcessIdentity): Promise<readonly Kin[]> {
  if (process.platform !== "linux") return [];
  const children = new Map<number, (Kin & { readonly group: number })[]>();
  await eachProcess((pid) => {
    const text = readStat(pid);
    const start = text === null ? null : parseProcStat(text);
    if (text === null || start === null) return;
    const [, parent = 0, group = 0] = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    children.set(parent, [...(children.get(parent) ?? []), { pid, start, group }]);
  });
  // Still the same after the look, so it was all the time; else these may be a stranger's.
  if (parseProcStat(readStat(leader) ?? "") !== leaderStart) return [];
  const found: Kin[] = [];
  const queue = [leader];
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop())
    for (const child of children.get(pid) ?? []) {
      queue.push(child.pid);
      if (child.group !== leader) found.push(child);
    }
  return found;
}

/**
 * Ends with SIGKILL whatever carries the mark of one run of a tool, in its group or not, and its kin, and resolves when
 * nothing of it is left. Where the system does not show environments (all but Linux) only the group was ended.
 */
export async function endStrays(generation: string, kin: readonly Kin[]): Promise<void> {
  if (process.platform !== "linux") return;
  for (let round = 0; round < rounds; round++) {
    // Looked at again right before the signal: a pid may have changed hands since.
    const isKin = ({ pid, start }: Kin): boolean => parseProcStat(readStat(pid) ?? "") === start;
    const living = kin.filter(isKin);
    const pids = await marked(generation);
    if (pids.length === 0 && living.length === 0) return;
    for (const each of living) if (isKin(each)) kill(each.pid);
    for (const pid of pids) if (isMarked(pid, generation)) kill(pid);
    await delay(pauseMs);
  }
}

async function eachProcess(visit: (pid: number) => void): Promise<void> {
  let seen = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^[1-9]\d*$/.test(name)) continue;
    visit(Number(name));
    seen += 1;
    if (seen % pidsPerTurn === 0) await nextTurn();
  }
}

async function marked(generation: string): Promise<readonly number[]> {
  const found: number[] = [];
  await eachProcess((pid) => {
    if (isMarked(pid, generation)) found.push(pid);
  });
  return found;
}

/** Null when it is gone, or cannot be seen. */
function readStat(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    // Gone meanwhile: the same as not there.
    return null;
  }
}

/** A zombie has no environment any more, and is none of ours to wait for. */
function isMarked(pid: number, generation: string): boolean {
  if (pid === process.pid) return false;
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
    return (
      `\0${environment}\0`.includes(`\0${runMark}=${generation}\0`) &&
      parseProcStat(readStat(pid) ?? "") !== null
    );
  } catch {
    // Gone meanwhile, or another user's: the same as not there.
    return false;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { parseProcStat } from "../lib/process-identity.ts";
import { runMark } from "./watchdog.ts";

const pidsPerTurn = 200;
const rounds = 20;
const pauseMs = 20;

/**
 * Ends with SIGKILL whatever carries the mark of one run of a tool, in its group or not, and resolves when nothing of it is
 * left. Where the system does not show environments (all but Linux) only the group was ended.
 */
export async function endStrays(generation: string): Promise<void> {
  if (process.platform !== "linux") return;
  for (let round = 0; round < rounds; round++) {
    const pids = await marked(generation);
    if (pids.length === 0) return;
    // Looked at again right before the signal: a pid may have changed hands since.
    for (const pid of pids) if (isMarked(pid, generation)) kill(pid);
    await delay(pauseMs);
  }
}

async function marked(generation: string): Promise<readonly number[]> {
  const found: number[] = [];
  let seen = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^[1-9]\d*$/.test(name)) continue;
    if (isMarked(Number(name), generation)) found.push(Number(name));
    seen += 1;
    if (seen % pidsPerTurn === 0) await nextTurn();
  }
  return found;
}

/** A zombie has no environment any more, and is none of ours to wait for. */
function isMarked(pid: number, generation: string): boolean {
  if (pid === process.pid) return false;
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
    return (
      `\0${environment}\0`.includes(`\0${runMark}=${generation}\0`) &&
      parseProcStat(readFileSync(`/proc/${pid}/stat`, "latin1")) !== null
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

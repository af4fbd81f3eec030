import { setTimeout as delay } from "node:timers/promises";
import type { ProcessRow, ProcessTable } from "./process-table.ts";
import { type ProcessTree, processKey, selectTree, type TreeTarget } from "./select-tree.ts";

export interface EndTreeOptions {
  readonly processes: ProcessTable;
  /** Read again at each step: the leader may be gone by then. */
  readonly target: () => TreeTarget;
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number;
  /** It was started a moment ago: a shell that is just forking loses a signal, so SIGTERM is sent twice more. */
  readonly young: boolean;
  /** How long SIGKILL is repeated for processes that fork away from it. */
  readonly insistMs: number;
  readonly send: (pid: number, signal: NodeJS.Signals) => void;
  /** Called before the first SIGKILL, with whether the leader is among those it is for. */
  readonly onForce: (leaderAlive: boolean) => void;
}

/**
 * Ends a job's whole process tree: SIGTERM, then SIGKILL. Resolves with the number of processes that are left: 0, unless
 * some cannot be killed. The identity of every receiver is checked just before its signal.
 */
export async function endTree(options: EndTreeOptions): Promise<number> {
  const { processes } = options;
  const known = new Set<string>();
  const begun = performance.now();
  const termsAtMs = options.young ? [0, 100, 300] : [0];
  let forced = false;
  let pauseMs = 10;
  for (;;) {
    const target = options.target();
    const rows = await scanOrLeader(processes, target);
    const tree = selectTree(rows, target, known, process.pid);
    for (const row of tree.members) known.add(processKey(row));
    const elapsedMs = performance.now() - begun;
    if (tree.members.length === 0 || elapsedMs > options.graceMs + options.insistMs)
      return tree.members.length;
    const [nextTermMs] = termsAtMs;
    if (
      nextTermMs === 0 ||
      (nextTermMs !== undefined && elapsedMs >= nextTermMs && elapsedMs < options.graceMs)
    ) {
      termsAtMs.shift();
      signalTree(tree, target, "SIGTERM", options);
    } else if (elapsedMs >= options.graceMs) {
      if (!forced) {
        forced = true;
        pauseMs = 5;
        options.onForce(tree.members.some((row) => row.pid === target.leader?.pid));
      }
      signalTree(tree, target, "SIGKILL", options);
    }
    const untilForceMs = options.graceMs - elapsedMs;
    await delay(untilForceMs > 0 ? Math.min(pauseMs, untilForceMs) : pauseMs);
    pauseMs = Math.min(pauseMs * 2, 100);
  }
}

/** All processes; where they cannot be listed (`ps` failed) at least the leader, whose group can be signalled. */
async function scanOrLeader(processes: ProcessTable, target: TreeTarget): Promise<readonly ProcessRow[]> {
  try {
    return await processes.scan(target.leader?.start ?? 0);
  } catch {
    const leader = target.leader && processes.find(target.leader.pid);
    return leader ? [leader] : [];
  }
}

function signalTree(
  tree: ProcessTree,
  target: TreeTarget,
  signal: NodeJS.Signals,
  options: EndTreeOptions,
): void {
  const { leader } = target;
  const groupSafe = tree.groupSafe && leader !== null && same(options.processes.find(leader.pid), leader);
  if (groupSafe) options.send(-leader.pid, signal);
  for (const row of tree.members) {
    if (groupSafe && row.pgrp === leader.pid) continue;
    if (same(options.processes.find(row.pid), row)) options.send(row.pid, signal);
  }
}

function same(found: ProcessRow | null, wanted: { readonly pid: number; readonly start: number }): boolean {
  return found !== null && found.start === wanted.start;
}

/** Sends a signal; a process that is gone or not ours to signal is no error. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/** Whether a process group of that number has any member, zombies included. */
export function groupExists(pgrp: number): boolean {
  try {
    process.kill(-pgrp, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

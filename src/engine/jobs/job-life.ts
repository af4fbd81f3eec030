import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { Job } from "../../protocol/objects.ts";
import { endTree, groupExists } from "./end-tree.ts";
import { isRunning, type JobEntry, targetOf } from "./job-entry.ts";
import type { JobFiles } from "./job-files.ts";
import { endOf } from "./job-record.ts";
import { describe, type JobStore } from "./job-store.ts";
import type { ProcessRow, ProcessTable } from "./process-table.ts";
import { selectTree } from "./select-tree.ts";
import type { LeaderExit } from "./spawn-leader.ts";

/** From the leader's exit until members of its group that live on make the output `incomplete`. */
const drainMs = 2_000;
const insistMs = 1_500;
const youngMs = 1_000;

export interface EndRequest {
  /** Shown in the job and in the last line of its log; null when a person asked. */
  readonly reason: string | null;
  readonly graceMs: number;
  /** Called before the intent is written and again right before the signal; what it throws stops the kill. */
  readonly beforeSignal?: () => void;
}

export interface JobLifeOptions {
  readonly files: JobFiles;
  readonly store: JobStore;
  readonly processes: ProcessTable;
  readonly send: (pid: number, signal: NodeJS.Signals) => void;
  readonly now: () => number;
  readonly onWarning: (message: string) => void;
  /** The entry has its final record. `announced`: false when it ended before this process started. */
  readonly onFinished: (entry: JobEntry, announced: boolean) => void;
}

/** What happens to a process from its start to its end. */
export interface JobLife {
  /** Running, and ended with processes that live on: their logs may grow. */
  readonly active: ReadonlySet<JobEntry>;
  /** Takes a started or adopted entry into care. */
  watch(entry: JobEntry): void;
  leaderGone(entry: JobEntry, exit: LeaderExit | null): void;
  /** Ends the whole tree and resolves when the entry has ended. One that ended already loses the processes it left. */
  end(entry: JobEntry, request: EndRequest): Promise<void>;
  /** Ends an entry that is known to be over, without a signal. */
  finish(entry: JobEntry, how: { readonly incomplete: boolean; readonly announced: boolean }): Promise<void>;
  /** Looks whether processes of an ended entry live on; if not, the entry is put away. */
  putAway(entry: JobEntry): Promise<void>;
  /** Removes what an ended entry printed, and says so in its log. */
  silence(entry: JobEntry): Promise<void>;
  /** No further end is noticed; ends in progress go on. */
  close(): void;
}

export function createJobLife(options: JobLifeOptions): JobLife {
  const { files, store, processes, now, onWarning } = options;
  const active = new Set<JobEntry>();
  let closed = false;

  function leaderGone(entry: JobEntry, exit: LeaderExit | null): void {
    if (closed || entry.gone !== null || !isRunning(entry)) return;
    entry.gone = { atMs: now(), exit };
    entry.groupHeld = entry.record.pid !== null && groupExists(entry.record.pid);
    if (entry.killing === null) void drain(entry);
  }

  /** A call of a turn ends with its leader; a job waits for what else of its group may still write. */
  async function drain(entry: JobEntry): Promise<void> {
    const incomplete = entry.record.kind === "job" && (await groupOutlives(entry));
    if (closed || entry.killing !== null || !isRunning(entry)) return;
    await finish(entry, { incomplete, announced: true });
  }

  async function groupOutlives(entry: JobEntry): Promise<boolean> {
    const begun = performance.now();
    for (let pauseMs = 10; entry.groupHeld && entry.killing === null; pauseMs = Math.min(100, pauseMs * 2)) {
      const { pid } = entry.record;
      const rows = await membersNow(entry);
      if (!rows.some((row) => row.pgrp === pid)) return false;
      if (performance.now() - begun >= drainMs) return true;
      await delay(pauseMs);
      entry.groupHeld = pid !== null && groupExists(pid);
    }
    return false;
  }

  async function membersNow(entry: JobEntry): Promise<readonly ProcessRow[]> {
    const target = targetOf(entry);
    try {
      const rows = await processes.scan(target.leader?.start ?? 0);
      return selectTree(rows, target, new Set(), process.pid).members;
    } catch (error) {
      onWarning(`The processes of this machine could not be listed (${describe(error)}).`);
      return [];
    }
  }

  async function finish(
    entry: JobEntry,
    how: { readonly incomplete: boolean; readonly announced: boolean },
  ): Promise<void> {
    const { record, gone } = entry;
    const exit = files.readExit(record.id);
    const end = endOf({
      exitCode: exit?.code ?? gone?.exit?.code ?? null,
      leaderSignal: gone?.exit?.signal ? constants.signals[gone.exit.signal] : entry.sigkilled ? 9 : null,
      killAsked: record.kill !== null,
      // The daemon died between its record and its start: no process ever had it, and nothing was written.
      neverStarted: record.pid === null && !entry.ours && files.logBytesNow(record.id) === 0,
    });
    const endedMs = (entry.ours ? gone?.atMs : exit?.atMs) ?? gone?.atMs ?? now();
    entry.record = {
      ...record,
      state: end.state,
      exit_code: end.exitCode,
      reason: record.kill?.reason ?? reasonOf(end.state),
      ended: new Date(Math.max(endedMs, Date.parse(record.started))).toISOString(),
      bytes: files.logBytesNow(record.id),
      incomplete: how.incomplete,
    };
    if (record.kind !== "call") await store.save(entry);
    options.onFinished(entry, how.announced);
    entry.settle();
    await putAway(entry);
  }

  function putAway(entry: JobEntry): Promise<void> {
    entry.puttingAway = entry.puttingAway.then(() => lookAndPutAway(entry));
    return entry.puttingAway;
  }

  async function lookAndPutAway(entry: JobEntry): Promise<void> {
    if (entry.removed) return;
    const { id, kind } = entry.record;
    try {
      if ((await membersNow(entry)).length > 0) {
        active.add(entry);
        // A restart must not take it for a call that was left running.
        if (!entry.lingering) await store.save(entry);
        entry.lingering = true;
        return;
      }
      active.delete(entry);
      if (kind === "call") return await store.remove(id);
      const bytes = files.logBytesNow(id);
      if (entry.lingering && bytes !== entry.record.bytes) {
        entry.record = { ...entry.record, bytes };
        await store.save(entry);
      }
      entry.lingering = false;
      await files.markFinished(id);
    } catch (error) {
      onWarning(`Files of job ${id} could not be put away (${describe(error)}).`);
    }
  }

  async function end(entry: JobEntry, request: EndRequest): Promise<void> {
    for (;;) {
      request.beforeSignal?.();
      if (!isRunning(entry)) return endRest(entry, request);
      if (entry.killing === null) {
        const killing = kill(entry, request).finally(() => {
          entry.killing = null;
          // The kill was called off after the leader had ended by itself.
          if (entry.gone !== null && isRunning(entry)) void drain(entry);
        });
        entry.killing = killing;
        return killing;
      }
      // What stops another's kill is that caller's to hear of.
      await entry.killing.catch(() => undefined);
    }
  }

  async function kill(entry: JobEntry, request: EndRequest): Promise<void> {
    const { id } = entry.record;
    const intended = entry.record.kill === null && entry.gone === null && files.readExit(id) === null;
    if (intended) {
      const intent = { at: new Date(now()).toISOString(), reason: request.reason };
      entry.record = { ...entry.record, kill: intent };
      await store.save(entry);
    }
    try {
      request.beforeSignal?.();
    } catch (error) {
      if (intended) entry.record = { ...entry.record, kill: null };
      await store.save(entry);
      throw error;
    }
    await endProcesses(entry, request);
    // The end of a child of ours is told to us a moment after it can be seen.
    for (let turns = 0; entry.ours && entry.gone === null && turns < 5; turns += 1) await delay(5);
    const reason = entry.record.kill?.reason ?? null;
    if (reason !== null) await explain(entry, reason);
    await finish(entry, { incomplete: false, announced: true });
  }

  /** Ends what an ended job left behind. Its state stays what it is. */
  async function endRest(entry: JobEntry, request: EndRequest): Promise<void> {
    // Whether it left any is known a moment after its end.
    await entry.ended;
    await entry.puttingAway;
    if (!entry.lingering) return;
    await endProcesses(entry, request);
    if (request.reason !== null) await explain(entry, request.reason);
    await putAway(entry);
  }

  async function endProcesses(entry: JobEntry, request: EndRequest): Promise<void> {
    const left = await endTree({
      processes,
      target: () => targetOf(entry),
      graceMs: request.graceMs,
      young: entry.ours && now() - Date.parse(entry.record.started) < youngMs,
      insistMs,
      send: options.send,
      onForce: (leaderAlive) => {
        entry.sigkilled = leaderAlive;
      },
    });
    if (left > 0) onWarning(`${left} processes of job ${entry.record.id} could not be killed.`);
  }

  async function silence(entry: JobEntry): Promise<void> {
    const { id } = entry.record;
    try {
      await files.clearLog(id);
      await files.appendLine(id, "[sallyport removed this output: a key was in it]");
      entry.record = { ...entry.record, bytes: files.logBytesNow(id) };
      await store.save(entry);
    } catch (error) {
      onWarning(`The output of job ${id} could not be removed (${describe(error)}).`);
    }
  }

  async function explain(entry: JobEntry, reason: string): Promise<void> {
    await files
      .appendLine(entry.record.id, `[sallyport ended this job: ${reason}]`)
      .catch((error: unknown) => {
        onWarning(
          `The log of job ${entry.record.id} could not be told why it was ended (${describe(error)}).`,
        );
      });
  }

  return {
    active,
    watch: (entry) => {
      active.add(entry);
    },
    leaderGone,
    end,
    finish,
    putAway,
    silence,
    close: () => {
      closed = true;
    },
  };
}

function reasonOf(state: Job["state"]): string | null {
  if (state === "failed") return "It was never started: the daemon was ended just before.";
  return state === "lost" ? lostReason : null;
}

const lostReason = "It ended without telling how: it was killed from outside, or the machine was restarted.";

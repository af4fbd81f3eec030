import { isRunning, type JobEntry } from "./job-entry.ts";
import type { JobFiles } from "./job-files.ts";
import type { JobLife } from "./job-life.ts";
import type { JobRecord } from "./job-record.ts";
import { describe } from "./job-store.ts";
import type { ProcessRow } from "./process-table.ts";

/** What to do with an unfinished record of an earlier daemon. */
export type Recovery =
  /** It runs on: watch it. */
  | { readonly action: "adopt" }
  /** A kill was asked for, or it is a call that nobody waits for any more: end what is left of it. */
  | { readonly action: "end" }
  /** It has ended meanwhile. */
  | { readonly action: "finish"; readonly incomplete: boolean }
  /** It had ended before; look for processes that it left. */
  | { readonly action: "put_away" };

export interface RecoveryFacts {
  readonly kind: JobRecord["kind"];
  readonly running: boolean;
  readonly killAsked: boolean;
  /** The record is of this boot; after another, no process of it can be alive. */
  readonly sameBoot: boolean;
  readonly leaderAlive: boolean;
  /** Others of its group are alive. */
  readonly groupAlive: boolean;
  readonly hasExit: boolean;
}

/** Decides what becomes of a record that was not finished when the daemon ended, however it ended. */
export function decideRecovery(facts: RecoveryFacts): Recovery {
  if (!facts.running) return { action: "put_away" };
  if (!facts.sameBoot) return { action: "finish", incomplete: false };
  if (facts.killAsked) return { action: "end" };
  if (facts.kind !== "job")
    return facts.hasExit && !facts.leaderAlive ? { action: "finish", incomplete: false } : { action: "end" };
  if (facts.leaderAlive) return { action: "adopt" };
  return { action: "finish", incomplete: facts.groupAlive };
}

export interface RecoverOptions {
  readonly files: JobFiles;
  readonly life: JobLife;
  readonly bootId: string;
  readonly graceMs: number;
  readonly onWarning: (message: string) => void;
}

/** Takes over one unfinished record. `rows`: the processes of this machine, with their marks. Resolves when its state is known. */
export async function recoverJob(
  entry: JobEntry,
  rows: readonly ProcessRow[],
  options: RecoverOptions,
): Promise<void> {
  const { life, files } = options;
  const sameBoot = entry.record.boot === options.bootId;
  if (sameBoot && entry.record.pid === null) adoptByMark(entry, rows);
  const { id, pid, start, kind, kill } = entry.record;
  const exit = files.readExit(id);
  const leaderAlive = rows.some((row) => row.pid === pid && row.start === start && !row.ended);
  const recovery = decideRecovery({
    kind,
    running: isRunning(entry),
    killAsked: kill !== null,
    sameBoot,
    leaderAlive: sameBoot && leaderAlive,
    groupAlive: rows.some((row) => row.job === id && row.pgrp === pid && !row.ended),
    hasExit: exit !== null,
  });
  if (recovery.action === "adopt") life.watch(entry);
  else if (recovery.action === "finish")
    await life.finish(entry, { incomplete: recovery.incomplete, announced: false });
  else if (recovery.action === "put_away") await life.putAway(entry);
  else {
    life.watch(entry);
    // Not waited for: it takes as long as the processes resist.
    life.end(entry, { reason: kill?.reason ?? null, graceMs: options.graceMs }).catch((error: unknown) => {
      options.onWarning(`What was left of job ${id} could not be ended (${describe(error)}).`);
    });
  }
}

/** The daemon died between starting the leader and writing its pid: the mark in its environment tells which it is. */
function adoptByMark(entry: JobEntry, rows: readonly ProcessRow[]): void {
  const leader = rows.find((row) => row.job === entry.record.id && row.pid === row.pgrp);
  if (leader) entry.record = { ...entry.record, pid: leader.pid, start: leader.start };
}

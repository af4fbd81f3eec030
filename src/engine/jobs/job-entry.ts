import type { JobRecord } from "./job-record.ts";
import type { TreeTarget } from "./select-tree.ts";
import type { LeaderExit } from "./spawn-leader.ts";

/** A job or call in memory. The record is replaced, never changed in place. */
export interface JobEntry {
  record: JobRecord;
  /** Started by this process: its end comes as an event, not by polling. */
  readonly ours: boolean;
  /** Set when the leader was seen to be gone. */
  gone: { readonly atMs: number; readonly exit: LeaderExit | null } | null;
  /** The leader is gone, but its group was seen without a break since. */
  groupHeld: boolean;
  /** A kill in progress. */
  killing: Promise<void> | null;
  /** SIGKILL was sent to the living leader. */
  sigkilled: boolean;
  /** Ended, but processes of it live on and may still write. */
  lingering: boolean;
  puttingAway: Promise<void>;
  removed: boolean;
  saving: Promise<void>;
  /** Size of the log when it was last looked at, for growth; and when. */
  seenBytes: number;
  seenAtMs: number;
  /** Resolves when the job has ended and that was announced. */
  readonly ended: Promise<void>;
  readonly settle: () => void;
}

export function createEntry(record: JobRecord, ours: boolean): JobEntry {
  let settle: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    settle = resolve;
  });
  if (record.state !== "running") settle();
  return {
    record,
    ours,
    gone: null,
    groupHeld: false,
    killing: null,
    sigkilled: false,
    lingering: false,
    puttingAway: Promise.resolve(),
    removed: false,
    saving: Promise.resolve(),
    seenBytes: 0,
    seenAtMs: 0,
    ended,
    settle,
  };
}

export function isRunning(entry: JobEntry): boolean {
  return entry.record.state === "running";
}

/** What `selectTree` needs to find the processes of the entry now. */
export function targetOf(entry: JobEntry): TreeTarget {
  const { id, pid, start } = entry.record;
  return { id, leader: pid === null || start === null ? null : { pid, start }, groupHeld: entry.groupHeld };
}

import type { ProcessRow } from "./process-table.ts";

export interface TreeTarget {
  /** What `SALLYPORT_JOB` says in the job's processes. */
  readonly id: string;
  /** Leader of the group, with its start time; null when it is not known. */
  readonly leader: { readonly pid: number; readonly start: number } | null;
  /** The leader is gone, but its group was seen without a break since: its number cannot have been given away. */
  readonly groupHeld: boolean;
}

export interface ProcessTree {
  /** The leader still holds its pid, so a signal to the group reaches nobody else. */
  readonly groupSafe: boolean;
  /** Every living process of the job, the leader included. */
  readonly members: readonly ProcessRow[];
}

/** Names one process for as long as this boot lasts. */
export function processKey(row: { readonly pid: number; readonly start: number }): string {
  return `${row.pid}:${row.start}`;
}

/**
 * Finds the processes of a job: its group, those that carry its mark, those in `known` (found before), and the children
 * of all these, unless they carry another job's mark. Never this process itself, which may have been started by a job.
 */
export function selectTree(
  rows: readonly ProcessRow[],
  target: TreeTarget,
  known: ReadonlySet<string>,
  selfPid: number,
): ProcessTree {
  const leader = target.leader;
  const holder = leader === null ? undefined : rows.find((row) => row.pid === leader.pid);
  const holds = leader !== null && holder !== undefined && holder.start === leader.start;
  const stranger = holder !== undefined && !holds;
  const groupOurs = holds || (target.groupHeld && !stranger);

  const candidates = rows.filter(
    (row) =>
      row.pid !== selfPid &&
      row.pid > 1 &&
      (row.job === null || row.job === target.id || known.has(processKey(row))),
  );
  const children = new Map<number, ProcessRow[]>();
  for (const row of candidates) {
    const siblings = children.get(row.ppid);
    if (siblings) siblings.push(row);
    else children.set(row.ppid, [row]);
  }
  const found = new Set<ProcessRow>();
  const queue = candidates.filter(
    (row) =>
      row.job === target.id ||
      known.has(processKey(row)) ||
      (groupOurs && leader !== null && row.pgrp === leader.pid && row.start >= leader.start),
  );
  for (let row = queue.pop(); row; row = queue.pop()) {
    if (found.has(row)) continue;
    found.add(row);
    queue.push(...(children.get(row.pid) ?? []));
  }
  const self = rows.find((row) => row.pid === selfPid);
  return {
    groupSafe: holds && self?.pgrp !== leader?.pid,
    // Parents first: a shell that is killed after its child would still report that.
    members: [...found].filter((row) => !row.ended).sort((a, b) => a.start - b.start || a.pid - b.pid),
  };
}

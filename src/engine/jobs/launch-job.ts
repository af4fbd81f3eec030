import { SallyportError } from "../../errors.ts";
import { createEntry, type JobEntry } from "./job-entry.ts";
import type { JobFiles } from "./job-files.ts";
import type { JobRecord } from "./job-record.ts";
import type { JobStore } from "./job-store.ts";
import type { ProcessTable } from "./process-table.ts";
import { folderProblem, type LeaderExit, type SpawnedLeader, spawnLeader } from "./spawn-leader.ts";

export interface LaunchSpec {
  readonly kind: JobRecord["kind"];
  readonly command: string;
  /** What stands in the record in place of the command. */
  readonly shownAs?: string;
  readonly cwd: string;
  readonly workspace: string | null;
  readonly tab: string | null;
  readonly agent: string | null;
}
export interface LaunchOptions {
  readonly files: JobFiles;
  readonly store: JobStore;
  readonly processes: ProcessTable;
  readonly environment: Readonly<Record<string, string>>;
  readonly shell: string;
  readonly now: () => number;
}
export interface Launched {
  readonly entry: JobEntry;
  /** Null when it could not be started: the entry is `failed` then. */
  readonly exited: Promise<LeaderExit> | null;
}

/**
 * Makes the files, writes the record, calls `beforeSpawn` and, if that does not throw, starts the process. Only then the
 * entry is in the store; its record still has to be saved. Throws `disk_full` or `overloaded` when the files cannot be made.
 */
export async function launchJob(
  spec: LaunchSpec,
  options: LaunchOptions,
  beforeSpawn: () => void,
): Promise<Launched> {
  const { files, store } = options;
  const { id, log } = await store.reserve().catch(refuse);
  try {
    const record = newRecord(id, spec, options);
    await files.write(record).catch(refuse);
    const problem = await folderProblem(spec.cwd);
    beforeSpawn();
    const leader: SpawnedLeader =
      problem === null
        ? await spawnLeader({
            shell: options.shell,
            command: spec.command,
            cwd: spec.cwd,
            environment: { ...options.environment, SALLYPORT_JOB: id },
            logFd: log.fd,
            exitFile: files.exitPath(id),
          })
        : { pid: null, reason: problem };
    const entry = createEntry(withLeader(record, leader, options), true);
    if (leader.pid === null) entry.settle();
    store.add(entry);
    return { entry, exited: leader.pid === null ? null : leader.exited };
  } catch (error) {
    await store.remove(id);
    throw error;
  } finally {
    await log.close();
  }
}

function newRecord(id: string, { shownAs, ...spec }: LaunchSpec, options: LaunchOptions): JobRecord {
  return {
    version: 1,
    id,
    ...spec,
    command: shownAs ?? spec.command,
    pid: null,
    start: null,
    boot: options.processes.bootId,
    state: "running",
    exit_code: null,
    reason: null,
    started: new Date(options.now()).toISOString(),
    ended: null,
    bytes: 0,
    incomplete: false,
    kill: null,
  };
}

function withLeader(record: JobRecord, leader: SpawnedLeader, options: LaunchOptions): JobRecord {
  if (leader.pid === null)
    return {
      ...record,
      state: "failed",
      reason: leader.reason,
      ended: new Date(options.now()).toISOString(),
    };
  // A child stays at least a zombie until the event loop turns, so it is still there.
  return { ...record, pid: leader.pid, start: options.processes.find(leader.pid)?.start ?? null };
}

function refuse(cause: unknown): never {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT")
    throw new SallyportError("disk_full", "The disk of the daemon's home is full. Make room and try again.", {
      cause,
    });
  if (code === "EMFILE" || code === "ENFILE")
    throw new SallyportError("overloaded", "Too many files are open on this machine. Try again later.", {
      cause,
    });
  throw cause;
}

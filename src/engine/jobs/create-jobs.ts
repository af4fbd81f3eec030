import { statfs } from "node:fs/promises";
import { resolve } from "node:path";
import { SallyportError } from "../../errors.ts";
import { makePrivateFolder } from "../../lib/atomic-file.ts";
import type { Job } from "../../protocol/objects.ts";
import { checkSpec, jobEnvironment } from "./check-spec.ts";
import { createProcessTable } from "./create-process-table.ts";
import { sendSignal } from "./end-tree.ts";
import { createFollowers } from "./followers.ts";
import { keepHouse } from "./housekeeping.ts";
import { isRunning, type JobEntry } from "./job-entry.ts";
import { createJobFiles } from "./job-files.ts";
import { createJobLife } from "./job-life.ts";
import { createJobShelf } from "./job-shelf.ts";
import { createJobStore, describe } from "./job-store.ts";
import type { Jobs } from "./jobs.ts";
import { type Launched, type LaunchSpec, launchJob } from "./launch-job.ts";
import type { LogBounds } from "./log-guard.ts";
import type { ProcessTable } from "./process-table.ts";
import { recoverJob } from "./recover-job.ts";
import type { RetentionBounds } from "./retention.ts";
import { runCall } from "./run-call.ts";
import { watchLogs } from "./watch-logs.ts";

export interface JobsOptions {
  readonly jobsFolder: string;
  readonly now: () => number;
  readonly limits: LogBounds & RetentionBounds;
  /** The daemon's environment; what begins with `SALLYPORT_` is taken out. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onWarning: (message: string) => void;
  readonly platform?: NodeJS.Platform;
  readonly shell?: string;
  /** From SIGTERM to SIGKILL. */
  readonly graceMs?: number;
  readonly maxRunning?: number;
  readonly createId?: () => string;
  /** Free bytes of the disk that holds a folder. */
  readonly freeDiskBytes?: (folder: string) => Promise<number>;
  readonly processes?: ProcessTable;
  readonly sendSignal?: (pid: number, signal: NodeJS.Signals) => void;
}

/**
 * Opens `jobsFolder` and takes over what an earlier daemon left there: running jobs are adopted, kills that were asked for
 * are carried out, calls that nobody waits for are ended. Resolves when the state of all unfinished jobs is known.
 */
export async function createJobs(options: JobsOptions): Promise<Jobs> {
  const { now, onWarning } = options;
  const folder = resolve(options.jobsFolder);
  const graceMs = options.graceMs ?? 3_000;
  const maxRunning = options.maxRunning ?? 512;
  const processes = options.processes ?? createProcessTable(options.platform ?? process.platform);
  const freeBytes = (): Promise<number> => (options.freeDiskBytes ?? freeDiskBytes)(folder);
  const environment = jobEnvironment(options.environment);
  const listeners = new Set<(kind: "started" | "finished", job: Job) => void>();
  const calls = new Set<JobEntry>();
  let closed = false;

  await makePrivateFolder(folder);
  const files = createJobFiles(folder);
  const unfinished: JobEntry[] = [];
  let adopt = (entry: JobEntry): void => {
    unfinished.push(entry);
  };
  const store = await createJobStore({ ...options, files }, (entry) => {
    adopt(entry);
  });
  const table = processes ?? noProcesses;
  const followers = createFollowers(files.logBytes);
  const shelf = createJobShelf(files, store);
  const life = createJobLife({
    files,
    store,
    processes: table,
    send: options.sendSignal ?? sendSignal,
    now,
    onWarning,
    onFinished: (entry, announced) => {
      if (entry.record.kind === "call") return;
      if (announced) announce("finished", shelf.present(entry));
      followers.end(entry.record.id, entry.record.bytes);
      house.jobEnded();
    },
  });
  const house = keepHouse({ store, life, bounds: options.limits, now, onWarning });
  const watch = watchLogs({
    files,
    life,
    store,
    processes: table,
    bounds: options.limits,
    freeBytes,
    onWarning,
  });

  async function takeOver(entries: readonly JobEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const rows = await table.scan(0);
    for (const entry of entries)
      await recoverJob(entry, rows, { files, life, bootId: table.bootId, graceMs, onWarning });
    watch.wake();
  }

  function announce(kind: "started" | "finished", job: Job): void {
    for (const listener of listeners) guarded(() => listener(kind, job));
  }

  /** A listener that throws stops neither the others nor the job. */
  function guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      onWarning(`A listener of jobs failed (${describe(error)}).`);
    }
  }

  function running(): number {
    let count = 0;
    for (const entry of life.active) if (entry.record.kind !== "call" && isRunning(entry)) count += 1;
    return count;
  }

  async function launch(spec: LaunchSpec, beforeSpawn: () => void): Promise<Launched> {
    checkSpec(spec);
    if (processes === null)
      throw new SallyportError("not_supported", "Commands cannot be run on this system yet.");
    if (closed) throw new SallyportError("overloaded", "The daemon is stopping.");
    if (life.active.size >= maxRunning)
      throw new SallyportError("overloaded", `${maxRunning} jobs are running. End one first.`);
    const free = await freeBytes().catch(() => null);
    if (free !== null && free < options.limits.freeDiskFloorBytes)
      throw new SallyportError(
        "disk_full",
        "The disk of the daemon's home is nearly full. Make room and try again.",
      );
    const launched = await launchJob(
      spec,
      { files, store, processes, environment, shell: options.shell ?? "/bin/sh", now },
      () => {
        if (closed) throw new SallyportError("overloaded", "The daemon is stopping.");
        beforeSpawn();
      },
    );
    const { entry, exited } = launched;
    if (exited === null) return launched;
    life.watch(entry);
    watch.wake();
    void exited.then((exit) => life.leaderGone(entry, exit));
    return launched;
  }

  await takeOver(unfinished);
  adopt = (entry) => {
    // Its mark was missing; but the state in its record is what counts.
    if (!isRunning(entry)) return;
    takeOver([entry]).catch((error: unknown) =>
      onWarning(`Job ${entry.record.id} could not be taken over (${describe(error)}).`),
    );
  };

  return {
    async start(spec, beforeSpawn) {
      const { command, cwd, workspace, tab, agent } = spec;
      const { entry, exited } = await launch(
        { kind: "job", command, cwd, workspace, tab, agent },
        beforeSpawn ?? (() => undefined),
      );
      const job = shelf.present(entry);
      announce("started", job);
      const saved = store.save(entry);
      if (exited === null) {
        announce("finished", job);
        house.jobEnded();
        await life.putAway(entry);
      }
      await saved;
      return job;
    },
    list: shelf.list,
    get: shelf.get,
    read: shelf.read,
    follow(id, more) {
      const entry = shelf.need(id);
      const tell = (size: number, alive: boolean): void => guarded(() => more(size, alive));
      if (isRunning(entry)) return followers.add(id, tell);
      let stopped = false;
      setImmediate(() => {
        if (!stopped) tell(shelf.present(entry).bytes, false);
      });
      return () => {
        stopped = true;
      };
    },
    async kill(id, beforeSignal) {
      const entry = shelf.need(id);
      await life.end(entry, { reason: null, graceMs, ...(beforeSignal ? { beforeSignal } : {}) });
      return shelf.present(entry);
    },
    async runCall(spec) {
      const { command, cwd, listed } = spec;
      const launchSpec: LaunchSpec = listed
        ? {
            kind: "terminal",
            command,
            shownAs: listed.command,
            cwd,
            workspace: listed.workspace,
            tab: listed.tab,
            agent: listed.agent,
          }
        : { kind: "call", command, cwd, workspace: null, tab: null, agent: null };
      let entry: JobEntry | null = null;
      try {
        return await runCall(spec, {
          files,
          life,
          graceMs,
          onWarning,
          launch: async (beforeSpawn) => {
            const launched = await launch(launchSpec, beforeSpawn);
            entry = launched.entry;
            calls.add(entry);
            if (listed) announce("started", shelf.present(entry));
            // Not waited for: the process may end first, and its log must be opened before it is removed.
            void store.save(entry);
            if (launched.exited === null) {
              if (listed) announce("finished", shelf.present(entry));
              void life.putAway(entry);
            }
            return launched;
          },
        });
      } finally {
        if (entry) {
          calls.delete(entry);
          if (listed?.isSecret()) await life.silence(entry);
        }
      }
    },
    runningCount: running,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      if (closed) return;
      closed = true;
      house.close();
      followers.close();
      const ends = [...life.active].map((entry) => {
        if (calls.has(entry)) return life.end(entry, { reason: "the daemon stopped", graceMs });
        return entry.killing;
      });
      await Promise.allSettled(ends);
      watch.close();
      life.close();
      // What ended a moment ago may still be looked after; nothing is written to the folder after this.
      await Promise.all([...store.loaded.values()].map((entry) => entry.puttingAway));
      await Promise.all([...store.loaded.values()].map((entry) => entry.saving));
    },
  };
}

const noProcesses: ProcessTable = {
  bootId: "unknown",
  cheap: true,
  find: () => null,
  scan: () => Promise.resolve([]),
};

async function freeDiskBytes(folder: string): Promise<number> {
  const found = await statfs(folder);
  return found.bavail * found.bsize;
}

import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createJobs, type JobsOptions } from "../../../src/engine/jobs/create-jobs.ts";
import { createProcessTable } from "../../../src/engine/jobs/create-process-table.ts";
import type { JobSpec, Jobs } from "../../../src/engine/jobs/jobs.ts";
import type { Job } from "../../../src/protocol/objects.ts";

export interface JobsUnderTest {
  readonly jobs: Jobs;
  readonly folder: string;
  readonly warnings: string[];
  readonly changes: { readonly kind: "started" | "finished"; readonly job: Job }[];
  /** Resolves with the final object, also when the job has ended already. */
  ended(id: string): Promise<Job>;
  /** The same folder, opened by another instance. */
  reopen(overrides?: Partial<JobsOptions>): Promise<JobsUnderTest>;
}

const folders: string[] = [];
const open: Jobs[] = [];

export const spec = (command: string, overrides: Partial<JobSpec> = {}): JobSpec => ({
  command,
  cwd: tmpdir(),
  workspace: null,
  tab: null,
  agent: null,
  ...overrides,
});

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-jobs-"));
  folders.push(folder);
  return folder;
}

/** Opens jobs in a folder of their own, with a short grace so that what ignores SIGTERM ends soon. */
export async function openJobs(overrides: Partial<JobsOptions> = {}): Promise<JobsUnderTest> {
  const folder = overrides.jobsFolder ?? temporaryFolder();
  const warnings: string[] = [];
  const changes: JobsUnderTest["changes"] = [];
  const jobs = await createJobs({
    jobsFolder: folder,
    now: Date.now,
    limits: { maxLogBytes: 2 ** 30, maxTotalBytes: 2 ** 33, keepDays: 30, freeDiskFloorBytes: 0 },
    environment: process.env,
    onWarning: (message) => warnings.push(message),
    graceMs: 400,
    ...overrides,
  });
  open.push(jobs);
  jobs.onChange((kind, job) => changes.push({ kind, job }));
  return {
    jobs,
    folder,
    warnings,
    changes,
    ended: (id) =>
      until(() => {
        const job = jobs.get(id);
        const told = changes.some((change) => change.kind === "finished" && change.job.id === id);
        return job && job.state !== "running" && (told || !changes.some((change) => change.job.id === id))
          ? job
          : null;
      }),
    reopen: (more = {}) => openJobs({ ...overrides, ...more, jobsFolder: folder }),
  };
}

/** Ends every job that a test left running, closes all instances and removes their folders. */
export async function cleanUp(): Promise<void> {
  for (const jobs of open.splice(0)) {
    for (const job of jobs.list()) await jobs.kill(job.id);
    await jobs.close();
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Polls for a value; the test's own time-out is the bound. */
export async function until<T>(probe: () => T | null | undefined | false): Promise<T> {
  for (;;) {
    const value = probe();
    if (value) return value;
    await delay(10);
  }
}

const processes = createProcessTable(process.platform);

/** A zombie has ended, though nobody may have asked for its status yet. */
export function processAlive(pid: number): boolean {
  return processes?.find(pid)?.ended === false;
}

/** The pid that a command wrote to a file, once it is there. */
export async function pidIn(path: string): Promise<number> {
  for (;;) {
    const text = await readFile(path, "utf8").catch(() => "");
    if (/^\d+\n$/.test(text)) return Number(text);
    await delay(10);
  }
}

export async function wholeLog(jobs: Jobs, id: string): Promise<string> {
  let text = "";
  for (let offset = 0; ; ) {
    const chunk = await jobs.read({ job: id, offset });
    text += chunk.output;
    if (chunk.next_offset === offset) return text;
    offset = chunk.next_offset;
  }
}

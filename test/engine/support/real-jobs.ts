import { join } from "node:path";
import { createJobs } from "../../../src/engine/jobs/create-jobs.ts";
import type { Jobs } from "../../../src/engine/jobs/jobs.ts";

/** Jobs with real processes, below a temporary folder; what ignores SIGTERM ends soon. */
export function realJobs(folder: string): Promise<Jobs> {
  return createJobs({
    jobsFolder: join(folder, "jobs"),
    now: Date.now,
    limits: { maxLogBytes: 2 ** 30, maxTotalBytes: 2 ** 33, keepDays: 30, freeDiskFloorBytes: 0 },
    environment: process.env,
    onWarning: () => undefined,
    graceMs: 300,
  });
}

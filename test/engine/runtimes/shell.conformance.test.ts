import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createJobs } from "../../../src/engine/jobs/create-jobs.ts";
import { runtimeConformance } from "./conformance.ts";
import { tellingJobs, twoPieces } from "./two-pieces.ts";

runtimeConformance("the shell", { ask: false, fail: false }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "sallyport-conformance-"));
  const jobs = await createJobs({
    jobsFolder: join(folder, "jobs"),
    now: Date.now,
    limits: { maxLogBytes: 2 ** 30, maxTotalBytes: 2 ** 33, keepDays: 30, freeDiskFloorBytes: 0 },
    environment: process.env,
    onWarning: () => undefined,
    graceMs: 300,
  });
  return {
    runtime: "shell",
    model: null,
    engine: { jobs: tellingJobs(jobs) },
    prompts: {
      work: twoPieces,
      hold: "echo half; sleep 100",
      ask: "",
      fail: "",
    },
    async dispose() {
      await jobs.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
});

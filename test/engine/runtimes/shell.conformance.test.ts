import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createJobs } from "../../../src/engine/jobs/create-jobs.ts";
import { runtimeConformance } from "./conformance.ts";

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
    engine: { jobs },
    prompts: {
      // The second piece comes when the first was seen: calls forward their output ten times a second.
      work: "echo one; sleep 0.3; echo two",
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

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realJobs } from "../support/real-jobs.ts";
import { runtimeConformance } from "./conformance.ts";
import { tellingJobs, twoPieces } from "./two-pieces.ts";

runtimeConformance("the shell", { ask: false, fail: false }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "sallyport-conformance-"));
  const jobs = await realJobs(folder);
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

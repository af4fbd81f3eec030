import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // `npm run test:agents` tries one agent of others, which it installed.
    include: process.env.SALLYPORT_TEST_AGENT ? ["test/agents/*.lab.ts"] : ["test/**/*.test.ts"],
    // How long something takes is measured in bench/, not here: a busy machine may take its time, and these end what hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    pool: "forks",
    // Most of the time a test waits for a process or a browser: one more than there are cores keeps them busy.
    maxWorkers: availableParallelism() + 1,
    reporters: process.env.CI ? ["default", "json"] : ["default"],
    outputFile: { json: "coverage/test-results.json" },
  },
});

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // `npm run test:agents` tries one agent of others, which it installed.
    include: process.env.SALLYPORT_TEST_AGENT ? ["test/agents/*.lab.ts"] : ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: "forks",
    reporters: process.env.CI ? ["default", "json"] : ["default"],
    outputFile: { json: "coverage/test-results.json" },
  },
});

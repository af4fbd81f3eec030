// Prints "N passed, N failed" from a vitest JSON report, and fails when nothing ran or, in strict mode, when a test was skipped.
import { readFileSync } from "node:fs";

const [, , path = "coverage/test-results.json"] = process.argv;
const report = JSON.parse(readFileSync(path, "utf8"));
const failed =
  report.numFailedTests + (report.numFailedTestSuites > 0 && report.numFailedTests === 0 ? 1 : 0);
const skipped = report.numPendingTests + report.numTodoTests;
const skipIsFailure = process.env.SALLYPORT_TEST_STRICT === "1" && skipped > 0;
if (skipIsFailure) process.stdout.write(`${skipped} skipped tests count as failures here\n`);
process.stdout.write(`${report.numPassedTests} passed, ${failed + (skipIsFailure ? skipped : 0)} failed\n`);
if (report.numPassedTests === 0 || failed > 0 || skipIsFailure) process.exitCode = 1;

import { delimiter } from "node:path";
import { findProgram } from "../../src/lib/find-program.ts";

/** System programs are often outside of a user's PATH. */
const systemFolders = ["/usr/sbin", "/usr/local/sbin", "/sbin", "/usr/bin", "/opt/homebrew/bin"];

/**
 * The path of a program that a test needs and that is not part of the project; null where it is not installed, so that
 * the test can be left out by `describe.skipIf`. With SALLYPORT_TEST_STRICT=1, as in CI, a missing one is an error.
 */
export function requireProgram(name: string): string | null {
  const found = findProgram(name, [process.env.PATH ?? "", ...systemFolders].join(delimiter));
  if (found !== null) return found;
  if (process.env.SALLYPORT_TEST_STRICT === "1")
    throw new Error(`this test needs the program ${name}: install it, as .ci/run does`);
  return null;
}

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** System programs are often outside of a user's PATH. */
const systemFolders = ["/usr/sbin", "/usr/local/sbin", "/sbin", "/usr/bin", "/opt/homebrew/bin"];

/**
 * The path of a program that a test needs and that is not part of the project; null where it is not installed, so that
 * the test can be left out by `describe.skipIf`. With SALLYPORT_TEST_STRICT=1, as in CI, a missing one is an error.
 */
export function requireProgram(name: string): string | null {
  for (const folder of [...(process.env.PATH ?? "").split(delimiter), ...systemFolders])
    if (folder !== "" && isExecutable(join(folder, name))) return join(folder, name);
  if (process.env.SALLYPORT_TEST_STRICT === "1")
    throw new Error(`this test needs the program ${name}: install it, as .ci/run does`);
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

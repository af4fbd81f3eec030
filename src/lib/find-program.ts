import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/**
 * The absolute path of a program: as it is, or looked up on `searchPath` (as in `$PATH`). Null when there is none to run.
 * A relative entry is not looked at: it would mean another program in each folder. Neither is a relative path.
 */
export function findProgram(command: string, searchPath: string | undefined): string | null {
  if (isAbsolute(command)) return isExecutable(command) ? command : null;
  if (command === "" || command.includes("/")) return null;
  for (const folder of (searchPath ?? "").split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const path = join(folder, command);
    if (isExecutable(path)) return path;
  }
  return null;
}

/** True for a regular file that this user may run. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not to be run: the same for whoever asks.
    return false;
  }
}

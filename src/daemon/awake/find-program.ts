import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** The absolute path of a program on `searchPath` (as in `$PATH`), or null. Relative entries are not looked at. */
export function findProgram(name: string, searchPath: string | undefined): string | null {
  for (const folder of (searchPath ?? "").split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const path = join(folder, name);
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
    return false;
  }
}

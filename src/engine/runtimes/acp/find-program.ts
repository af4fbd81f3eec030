import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

/** The absolute path of a program, looked up in `path` (`$PATH`) unless it is one already; null when there is none to run. */
export async function findProgram(command: string, path: string | undefined): Promise<string | null> {
  if (isAbsolute(command)) return (await isProgram(command)) ? command : null;
  if (command === "" || command.includes("/")) return null;
  for (const folder of (path ?? "").split(delimiter)) {
    // A relative entry of PATH would mean another program in each folder.
    if (!isAbsolute(folder)) continue;
    const candidate = join(folder, command);
    if (await isProgram(candidate)) return candidate;
  }
  return null;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    // Not there, or not to be run: the same for whoever asks.
    return false;
  }
}

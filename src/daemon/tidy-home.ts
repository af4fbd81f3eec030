import { readdir, unlink } from "node:fs/promises";
import { join } from "node:path";

/** `.state.json.Ab3_x-9z.tmp`: what an atomic write leaves when the process is killed in the middle of it. */
const leftover = /^\.[A-Za-z0-9][A-Za-z0-9.-]*\.(json|jsonl|token|key|toml)\.[A-Za-z0-9_-]{8}\.tmp$/;

/** Folders with files that are written atomically. `jobs` is tidied where its listing is read. */
const folders = [".", "workspaces", "sessions"];

/**
 * Removes half-written files of daemons that were killed. Only the holder of the lock may call it: nobody else writes here.
 * What was written whole was renamed, so nothing of value is among them.
 */
export async function tidyHome(home: string): Promise<void> {
  for (const folder of folders)
    for (const name of await namesIn(join(home, folder)))
      if (leftover.test(name))
        await unlink(join(home, folder, name)).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== "ENOENT") throw error;
        });
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    // Made when it is first needed; one that cannot be read is refused by those who need it.
    if (error.code === "ENOENT" || error.code === "ENOTDIR" || error.code === "ELOOP") return [];
    throw error;
  });
}

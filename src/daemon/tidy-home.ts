import { readdir, unlink } from "node:fs/promises";
import { join } from "node:path";

/** `.state.json.Ab3_x-9z.tmp`: what an atomic write leaves when the process is killed in the middle of it. */
const leftover =
  /^\.(state\.json|daemon\.json|daemon\.token|daemon\.key|devices\.json)\.[A-Za-z0-9_-]{8}\.tmp$/;

/**
 * Removes half-written files of daemons that were killed. Only the holder of the lock may call it: nobody else writes here.
 * What was written whole was renamed, so nothing of value is among them.
 */
export async function tidyHome(home: string): Promise<void> {
  for (const name of await readdir(home))
    if (leftover.test(name))
      await unlink(join(home, name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
      });
}

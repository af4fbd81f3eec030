import { lstat, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ancestorsOf, sameFile } from "./off-limits.ts";

const maxSteps = 2_048;

/**
 * True if a path that could not be opened would lie below `root`: the nearest folder on its way that there is does. So
 * outside the root nobody learns what exists by asking: the answer there is the same for what is and what is not.
 *
 * @param path absolute
 */
export async function nearestIsWithin(path: string, root: string): Promise<boolean> {
  try {
    const folder = await nearestFolder(path);
    if (folder === null) return false;
    const wanted = await stat(root);
    return (await ancestorsOf(folder)).some((each) => sameFile(each, wanted));
  } catch {
    // What cannot be looked at counts as outside.
    return false;
  }
}

async function nearestFolder(path: string): Promise<string | null> {
  let at = path;
  for (let step = 0; step < maxSteps; step += 1) {
    const found = await lstat(at).catch(() => null);
    if (found) {
      // A link that leads nowhere rejects here: where it would lead is not told.
      const real = await realpath(at);
      return (await stat(real)).isDirectory() ? real : dirname(real);
    }
    if (dirname(at) === at) return null;
    at = dirname(at);
  }
  return null;
}

import { opendir } from "node:fs/promises";
import { basename } from "node:path";
import { limits } from "../../protocol/limits.ts";
import { engineLimits } from "../engine-limits.ts";
import { type FolderLimits, withFolder } from "../files/resolve-folder.ts";
import { cleanLabel, makeVisible } from "../visible-text.ts";
import { fenced } from "./fence.ts";
import type { Attached } from "./prompt-part.ts";

/** Attaches a folder: the names in it, folders with a `/` behind. Throws as `withFolder` does. */
export async function attachFolder(
  path: string,
  shownPath: string,
  bounds: FolderLimits,
  field: string,
): Promise<Attached> {
  return withFolder(path, bounds, field, async ({ handle, realPath }) => {
    // On Linux the folder that was checked is the one that is listed, whatever was renamed meanwhile.
    const stablePath = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : realPath;
    const names: string[] = [];
    let count = 0;
    for await (const entry of await opendir(stablePath, { bufferSize: 256 })) {
      count += 1;
      if (count > engineLimits.attachedFolderEntries) break;
      names.push(makeVisible(entry.name, { keepLayout: false }) + (entry.isDirectory() ? "/" : ""));
    }
    const more = count > engineLimits.attachedFolderEntries ? `, the first ${names.length} entries` : "";
    const shown = makeVisible(shownPath, { keepLayout: false });
    const name = cleanLabel(basename(realPath), limits.labelChars) || "/";
    return {
      label: { name, kind: "folder" },
      part: { type: "text", text: fenced(`${shown} (a folder${more}):`, names.sort().join("\n")) },
    };
  });
}

import type { StateFile } from "../../lib/state-file.ts";
import { orRefuse } from "../disk-refusal.ts";
import { engineLimits } from "../engine-limits.ts";

const section = "trusted_folders";

/** Folders that the master or a device with `approve` opened a tab on, by real path. Kept in the state file. */
export interface TrustedFolders {
  has(realPath: string): boolean;
  /** Resolves to true when the folder was not trusted before. Throws `disk_full`. */
  add(realPath: string, beforeWrite?: () => void): Promise<boolean>;
}

/** Throws `StateFileError` when the section is damaged. Over the bound the oldest trust ends, which only asks again. */
export function createTrustedFolders(state: StateFile): TrustedFolders {
  const raw = state.get(section) ?? [];
  if (!Array.isArray(raw) || !raw.every((each) => typeof each === "string")) throw state.damaged(section);
  let folders: ReadonlySet<string> = new Set(raw as string[]);

  return {
    has: (realPath) => folders.has(realPath),
    async add(realPath, beforeWrite) {
      if (folders.has(realPath)) return false;
      let next: readonly string[] = [];
      await orRefuse(
        state.update(section, (current) => {
          beforeWrite?.();
          const before = (current as string[] | undefined) ?? [];
          next = [...before.filter((each) => each !== realPath), realPath].slice(
            -engineLimits.trustedFolders,
          );
          return next;
        }),
      );
      folders = new Set(next);
      return true;
    },
  };
}

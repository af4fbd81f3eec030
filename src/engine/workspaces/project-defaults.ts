import { type Static, Type } from "typebox";
import { createChecker } from "../../lib/checker.ts";
import type { StateFile } from "../../lib/state-file.ts";
import { orRefuse } from "../disk-refusal.ts";
import { engineLimits } from "../engine-limits.ts";

const section = "project_defaults";
const DefaultsSchema = Type.Array(
  Type.Object({
    /** Real path. */
    cwd: Type.String({ minLength: 1, maxLength: 8_192 }),
    runtime: Type.String({ minLength: 1, maxLength: 64 }),
    model: Type.Union([Type.String({ maxLength: 200 }), Type.Null()]),
  }),
);
type StoredDefault = Readonly<Static<typeof DefaultsSchema>[number]>;
const schema = createChecker(DefaultsSchema);

export type ProjectDefault = Pick<StoredDefault, "runtime" | "model">;

/** What new tabs on a folder run, as a person chose it. Kept in the state file; files of the project have no say. */
export interface ProjectDefaults {
  get(realPath: string): ProjectDefault | null;
  /** Throws `disk_full`. */
  set(realPath: string, chosen: ProjectDefault, beforeWrite: () => void): Promise<void>;
}

/** Throws `StateFileError` when the section is damaged. Over the bound the oldest choice is forgotten. */
export function createProjectDefaults(state: StateFile): ProjectDefaults {
  const raw = state.get(section) ?? [];
  if (!schema.check(raw)) throw state.damaged(section);
  let stored: readonly StoredDefault[] = raw;

  return {
    get(realPath) {
      const found = stored.find(({ cwd }) => cwd === realPath);
      return found === undefined ? null : { runtime: found.runtime, model: found.model };
    },
    async set(realPath, chosen, beforeWrite) {
      const next = (): readonly StoredDefault[] =>
        [...stored.filter(({ cwd }) => cwd !== realPath), { cwd: realPath, ...chosen }].slice(
          -engineLimits.trustedFolders,
        );
      await orRefuse(
        state.update(section, () => {
          beforeWrite();
          return next();
        }),
      );
      stored = next();
    },
  };
}

import { SallyportError } from "../../errors.ts";
import type { StateFile } from "../../lib/state-file.ts";
import { orRefuse } from "../disk-refusal.ts";
import { engineLimits } from "../engine-limits.ts";

const section = "session_flags";

/** Marks that people put on sessions. */
export interface SessionMarks {
  readonly pinned: boolean;
  readonly archived: boolean;
}

/** The marks of all sessions, in the state file. */
export interface SessionFlags {
  get(id: string): SessionMarks;
  /** Throws `conflict` when too many sessions are marked, `disk_full`, and what `beforeWrite` throws. */
  set(id: string, marks: Partial<SessionMarks>, beforeWrite: () => void): Promise<void>;
  /** Of a session that was deleted. */
  forget(id: string): Promise<void>;
}

type Stored = Readonly<Record<string, { readonly pinned?: true; readonly archived?: true }>>;
const unmarked: SessionMarks = { pinned: false, archived: false };

/** Throws `StateFileError` when the section is damaged. */
export function createSessionFlags(state: StateFile): SessionFlags {
  const raw = state.get(section) ?? {};
  if (!isStored(raw)) throw state.damaged(section);
  let stored: Stored = raw;

  async function write(change: (before: Stored) => Stored): Promise<void> {
    let next = stored;
    await orRefuse(
      state.update(section, (current) => {
        next = change((current as Stored | undefined) ?? {});
        return next;
      }),
    );
    stored = next;
  }

  const marksOf = (flags: Stored, id: string): SessionMarks => {
    const found = Object.hasOwn(flags, id) ? flags[id] : undefined;
    return found === undefined
      ? unmarked
      : { pinned: found.pinned ?? false, archived: found.archived ?? false };
  };

  return {
    get: (id) => marksOf(stored, id),
    set: (id, marks, beforeWrite) =>
      write((before) => {
        const { pinned, archived } = { ...marksOf(before, id), ...marks };
        const { [id]: _old, ...others } = before;
        beforeWrite();
        if (!pinned && !archived) return others;
        if (Object.keys(others).length >= engineLimits.markedSessions)
          throw new SallyportError(
            "conflict",
            `${engineLimits.markedSessions} sessions are pinned or archived; delete some, or take their marks away.`,
          );
        return { ...others, [id]: { ...(pinned ? { pinned } : {}), ...(archived ? { archived } : {}) } };
      }),
    async forget(id) {
      if (!Object.hasOwn(stored, id)) return;
      await write(({ [id]: _gone, ...others }) => others);
    },
  };
}

function isStored(raw: unknown): raw is Stored {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return false;
  return Object.values(raw).every(
    (marks: unknown) =>
      typeof marks === "object" &&
      marks !== null &&
      Object.entries(marks).every(
        ([key, value]) => (key === "pinned" || key === "archived") && value === true,
      ),
  );
}

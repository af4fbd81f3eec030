import type { SessionRow } from "../../../protocol/rest-objects.ts";

export interface Marks {
  readonly archived: boolean;
  readonly pinned: boolean;
}

/** A row that does not say is neither. */
export function marksOf({
  archived = false,
  pinned = false,
}: Pick<SessionRow, "archived" | "pinned">): Marks {
  return { archived, pinned };
}

/** True where no client would see a difference. */
export function areSameMarks(one: Marks, other: Marks): boolean {
  return one.archived === other.archived && one.pinned === other.pinned;
}

/** How sessions are marked as far as clients were told, so that a new title is not told as a change of the marks. */
export interface KnownMarks {
  /** What is known already counts: it is kept up to date. */
  learn(session: string, marks: Marks): void;
  /** Takes in how a session is marked now; true where it was not known to be so. */
  take(session: string, marks: Marks): boolean;
  forget(session: string): void;
}

/** Of more sessions it is not known any more: their marks are told once too often. */
const maxKnown = 10_000;

export function createKnownMarks(): KnownMarks {
  const known = new Map<string, Marks>();

  function set(session: string, marks: Marks): void {
    known.delete(session);
    known.set(session, marks);
    const [oldest] = known.keys();
    if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
  }

  return {
    learn(session, marks) {
      if (!known.has(session)) set(session, marks);
    },
    take(session, marks) {
      const before = known.get(session);
      set(session, marks);
      return before === undefined || !areSameMarks(before, marks);
    },
    forget: (session) => void known.delete(session),
  };
}

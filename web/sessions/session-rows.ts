import type { SessionRow } from "../../src/protocol/rest-objects.ts";

/** What a session is called: its title, else what was asked first, else its label. Not yet made visible. */
export function rawSessionName({ title, prompt, label }: SessionRow): string {
  return title ?? prompt ?? label ?? "Without a prompt";
}

/** A further page behind those that are there; a session that moved in the meantime stays where it was. */
export function mergeSessions(
  rows: readonly SessionRow[],
  page: readonly SessionRow[],
): readonly SessionRow[] {
  const known = new Set(rows.map(({ id }) => id));
  return [...rows, ...page.filter(({ id }) => !known.has(id))];
}

/** The list with the new state of one row. One that is not in it is left out: it may be of another search. */
export function replaceSession(rows: readonly SessionRow[], changed: SessionRow): readonly SessionRow[] {
  return rows.some(({ id }) => id === changed.id)
    ? rows.map((row) => (row.id === changed.id ? changed : row))
    : rows;
}

export function dropSession(rows: readonly SessionRow[], deleted: string): readonly SessionRow[] {
  return rows.some(({ id }) => id === deleted) ? rows.filter(({ id }) => id !== deleted) : rows;
}

export interface SessionGroups {
  readonly pinned: readonly SessionRow[];
  readonly others: readonly SessionRow[];
  readonly archived: readonly SessionRow[];
}

/** As a list shows them: pinned ones first, those put away apart. The order within a group stays. */
export function groupSessions(rows: readonly SessionRow[]): SessionGroups {
  const archived = rows.filter((row) => row.archived === true);
  const present = rows.filter((row) => row.archived !== true);
  return {
    pinned: present.filter((row) => row.pinned === true),
    others: present.filter((row) => row.pinned !== true),
    archived,
  };
}

/** One line of a shown change. `old` and `new` are line numbers from 1 where they are known. */
export interface DiffRow {
  readonly kind: "same" | "added" | "removed" | "gap" | "note";
  readonly old: number | null;
  readonly new: number | null;
  readonly text: string;
}

export interface Diff {
  readonly rows: readonly DiffRow[];
  /** Counted over the whole change, also over what is left out of `rows`. */
  readonly added: number;
  readonly removed: number;
  /** Lines that are left out at the end. */
  readonly omitted: number;
}

/** What one change shows at most, unless more is asked for. */
export const maxDiffRows = 1_000;
/** A longer line is cut when it is shown. */
export const maxDiffLineChars = 2_000;

/** Counts, and keeps the first rows. */
export function collectDiff(rows: Iterable<DiffRow>, maxRows: number): Diff {
  const kept: DiffRow[] = [];
  let added = 0;
  let removed = 0;
  let omitted = 0;
  for (const row of rows) {
    if (row.kind === "added") added += 1;
    if (row.kind === "removed") removed += 1;
    if (kept.length < maxRows) kept.push(row);
    else omitted += 1;
  }
  return { rows: kept, added, removed, omitted };
}

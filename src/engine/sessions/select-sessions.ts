import { SallyportError } from "../../errors.ts";
import type { SessionFacts } from "./session-facts.ts";
import { newestFirst } from "./session-index.ts";

export interface SessionQuery {
  /** Real path of the folder; only sessions that began in it. */
  readonly cwd: string | null;
  readonly limit: number;
  readonly subagents: boolean;
  /** The `next` of the page before. */
  readonly before: string | null;
  /** Words looked for in title, label and first prompt, whatever their case. */
  readonly search: string | null;
}

export interface SelectedSessions {
  readonly rows: readonly SessionFacts[];
  readonly next: string | null;
}

const cursorPattern = /^(-?\d{1,16})-([0-9a-f-]{36})$/;

/** One page of a list that is sorted already. Throws `invalid_field` for a `before` that no page gave. */
export function selectSessions(sorted: readonly SessionFacts[], query: SessionQuery): SelectedSessions {
  const position = query.before === null ? null : parseCursor(query.before);
  const words = query.search === null ? [] : query.search.toLowerCase().split(/\s+/).filter(Boolean);
  const rows: SessionFacts[] = [];
  for (const row of sorted) {
    if (position && newestFirst(row, position) <= 0) continue;
    if (!query.subagents && row.parent !== null) continue;
    if (query.cwd !== null && row.cwd !== query.cwd) continue;
    if (words.length > 0 && !matches(row, words)) continue;
    const last = rows.at(-1);
    if (rows.length === query.limit && last) return { rows, next: `${last.updated_ms}-${last.id}` };
    rows.push(row);
  }
  return { rows, next: null };
}

function matches(row: SessionFacts, words: readonly string[]): boolean {
  const text = `${row.title ?? ""}\n${row.label ?? ""}\n${row.prompt ?? ""}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function parseCursor(rawCursor: string): { readonly updated_ms: number; readonly id: string } {
  const [, ms, id] = cursorPattern.exec(rawCursor) ?? [];
  if (ms === undefined || id === undefined)
    throw new SallyportError("invalid_field", "`before` must be the `next` that an earlier page gave.", {
      field: "before",
    });
  return { updated_ms: Number(ms), id };
}

import { sessionIdOf } from "../../../protocol/mew/ids.ts";
import type {
  MewProjectInfo,
  MewSessionInfo,
  MewSessionState,
  MewUsage,
} from "../../../protocol/mew/values.ts";
import type { SessionRow } from "../../../protocol/rest-objects.ts";
import type { OpenCounts } from "./requests.ts";
import { modelFields } from "./values.ts";

/** What the list shows beside the row of the saved session. */
export interface SessionFactsOf {
  readonly clients: number;
  readonly open: OpenCounts;
  readonly lastTurnFailed: boolean;
  readonly usage: MewUsage | null;
}

export function sessionState(row: Pick<SessionRow, "state" | "live">): MewSessionState {
  if (row.state === "running" || row.state === "waiting") return "running";
  return row.live ? "active" : "idle";
}

/** A row of the session list. Real clients show `summary` where they know no title, then `first_message`. */
export function sessionInfo(row: SessionRow, facts: SessionFactsOf): MewSessionInfo {
  const updatedMs = Date.parse(row.updated);
  const { title, prompt, cwd } = row;
  return {
    session_id: sessionIdOf(row.id),
    state: sessionState(row),
    created_at: row.started === null ? updatedMs : Date.parse(row.started),
    last_message_at: updatedMs,
    client_count: facts.clients,
    last_turn_failed: facts.lastTurnFailed,
    archived: row.archived ?? false,
    pinned: row.pinned ?? false,
    pending_permissions: facts.open.permissions,
    pending_questions: facts.open.questions,
    ...(row.runtime === null ? {} : modelFields(row.runtime, row.model)),
    ...(title === null ? {} : { title, summary: title }),
    ...(cwd === null ? {} : { cwd, workspace_path: cwd }),
    ...(facts.usage === null ? {} : { usage: facts.usage }),
    ...(prompt === null ? {} : { first_message: prompt }),
  };
}

/** The folders that sessions ran in, the last used first, and those that a person pinned though none did. */
export function projectList(
  rows: readonly Pick<SessionRow, "cwd" | "updated">[],
  pinned: ReadonlySet<string> = new Set(),
): MewProjectInfo[] {
  const projects = new Map<string, { count: number; usedMs: number }>();
  for (const { cwd, updated } of rows) {
    if (cwd === null) continue;
    const known = projects.get(cwd) ?? { count: 0, usedMs: 0 };
    projects.set(cwd, { count: known.count + 1, usedMs: Math.max(known.usedMs, Date.parse(updated) || 0) });
  }
  for (const path of pinned) if (!projects.has(path)) projects.set(path, { count: 0, usedMs: 0 });
  return [...projects]
    .map(([path, { count, usedMs }]) => ({
      path,
      display_name: path.split(/[/\\]/).findLast((part) => part !== "") ?? path,
      session_count: count,
      ...(usedMs === 0 ? {} : { last_used_at: usedMs }),
      pinned: pinned.has(path),
    }))
    .sort((a, b) => (b.last_used_at ?? 0) - (a.last_used_at ?? 0) || (a.path < b.path ? -1 : 1));
}

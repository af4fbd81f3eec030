import { sessionIdOf } from "../../../protocol/mew/ids.ts";
import type { MewSessionInfo, MewSessionState, MewUsage } from "../../../protocol/mew/values.ts";
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

import { SallyportError } from "../../../errors.ts";
import { readUuid } from "../../../protocol/mew/ids.ts";
import type { MewSession } from "../attachment.ts";
import type { MewContext } from "../message-table.ts";

/** The agent of a session id as a client wrote it. Throws `not_found` for what is no id. */
export function agentOf(rawSessionId: string): string {
  const agent = readUuid(rawSessionId);
  if (agent === null) throw noSession();
  return agent;
}

/** The attached session. Throws `conflict` where there is none. */
export function attached({ client }: MewContext): MewSession {
  if (client.session) return client.session;
  throw new SallyportError("conflict", "no session: attach one first, with NewSession or AttachSession.");
}

/** Brings a saved session back to a tab, where it can be prompted. Throws as `agent_open` does. */
export async function onTab(agent: string, { client, engine, hub }: MewContext): Promise<void> {
  if (typeof hub.find(agent)?.tab === "string") return;
  const row = await engine.sessions.get(agent);
  if (row.tab === null) await engine.openAgent({ type: "agent_open", agent }, client.actor);
}

export function noSession(): SallyportError {
  return new SallyportError("not_found", "session not found");
}

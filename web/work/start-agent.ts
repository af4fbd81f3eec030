import { navigate } from "../state/router.ts";
import type { Session } from "../state/session.ts";

/** Begins a conversation in a tab and goes there. */
export async function startAgent(session: Session, tab: string): Promise<void> {
  const reply = await session.act({ type: "agent_start", tab });
  if (typeof reply?.agent === "string") navigate(`/agent/${reply.agent}`);
}

import type { Agents } from "../agents/agents.ts";
import type { LiveAgent } from "../agents/live-agent.ts";
import type { Engine } from "../engine.ts";
import type { WorkspaceStore } from "../workspaces/workspace-store.ts";
import type { Announcer } from "./announcer.ts";
import { checkSessionId, readSession } from "./read-session.ts";

export interface SessionReaderOptions {
  readonly store: WorkspaceStore;
  readonly agents: Agents;
  readonly announcer: Announcer;
  readonly recover: (agent: LiveAgent) => Promise<void>;
  readonly sessionsFolder: string;
  readonly report: (problem: string) => void;
}

/** Reads pages of transcripts; what a crash left open in one is ended before. */
export function createSessionReader(options: SessionReaderOptions): Engine["readSession"] {
  const { store, agents, sessionsFolder, announcer } = options;
  return async (agentId, page) => {
    checkSessionId(agentId);
    const isKnown = store.findAgent(agentId) !== null;
    const agent = isKnown ? agents.get(agentId) : null;
    // A full disk must not keep anybody from reading what there is.
    if (agent)
      await options
        .recover(agent)
        .catch((error: Error) => options.report(`${agentId} not recovered: ${error.message}`));
    return readSession({
      sessionsFolder,
      announcer,
      agent: agentId,
      isKnown,
      streaming: agent?.streaming ?? null,
      before: page.before,
      limit: page.limit,
    });
  };
}

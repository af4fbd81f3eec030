import { newId } from "../../lib/ids.ts";
import type { AgentEventBody } from "../../protocol/events.ts";
import type { AgentDoc } from "../workspaces/workspace-doc.ts";

/** The document of a new agent; `parent` for a subagent. `label` was cleaned. */
export function newAgentDoc(options: {
  readonly label: string | null;
  readonly parent?: string;
  readonly runtime: string;
  readonly model: string | null;
  readonly atMs: number;
}): AgentDoc {
  return {
    id: newId(),
    parent: options.parent ?? null,
    label: options.label,
    title: null,
    runtime: options.runtime,
    model: options.model,
    updated: new Date(options.atMs).toISOString(),
  };
}

/** The first record of an agent's transcript. `callId`: the call of its parent that started a subagent. */
export function startedRecord(agent: AgentDoc, cwd: string, callId: string | null = null): AgentEventBody {
  return {
    type: "agent_started",
    label: agent.label,
    parent: agent.parent,
    runtime: agent.runtime,
    model: agent.model,
    cwd,
    ...(callId === null ? {} : { call_id: callId }),
  };
}

import { newId } from "../../lib/ids.ts";
import type { AgentEventBody } from "../../protocol/events.ts";
import type { AgentDoc } from "../workspaces/workspace-doc.ts";

/** The document of a new top-level agent. `label` was cleaned. */
export function newAgentDoc(options: {
  readonly label: string | null;
  readonly runtime: string;
  readonly model: string | null;
  readonly atMs: number;
}): AgentDoc {
  return {
    id: newId(),
    parent: null,
    label: options.label,
    title: null,
    runtime: options.runtime,
    model: options.model,
    updated: new Date(options.atMs).toISOString(),
  };
}

/** The first record of an agent's transcript. */
export function startedRecord(agent: AgentDoc, cwd: string): AgentEventBody {
  return {
    type: "agent_started",
    label: agent.label,
    parent: agent.parent,
    runtime: agent.runtime,
    model: agent.model,
    cwd,
  };
}

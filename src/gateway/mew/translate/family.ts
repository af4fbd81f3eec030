import type { AgentEvent } from "../../../protocol/events.ts";
import { ulidOf } from "../../../protocol/mew/ids.ts";
import type { MewServerMessage } from "../../../protocol/mew/server-messages.ts";
import type { MewOutcome } from "../../../protocol/mew/values.ts";

/** A running subagent, as its session's clients know it. */
export interface Child {
  /** The agent at the top: its session hears of all agents below it. */
  readonly top: string;
  readonly parentCallId: string;
  readonly name: string;
}

/** Which agent stands below which. Subagents end with their turn, so that only running ones are known. */
export interface Family {
  childOf(agent: string): Child | null;
  /** The agent at the top; itself where it has no parent. */
  topOf(agent: string): string;
  /** What the clients at the top are told of an event of a subagent: that it begins, what it calls, how it ended. */
  take(child: Child, event: AgentEvent): readonly MewServerMessage[];
  /** Takes in the first event of an agent with a parent. */
  begin(agent: string, event: Extract<AgentEvent, { type: "agent_started" }>): Child | null;
}

/** More than run at a time under one agent, times more agents than run. */
const maxChildren = 20_000;

export function createFamily(): Family {
  const children = new Map<string, Child & { outcome: MewOutcome }>();

  return {
    childOf: (agent) => children.get(agent) ?? null,
    topOf: (agent) => children.get(agent)?.top ?? agent,
    begin(agent, event) {
      if (event.parent === null || children.size >= maxChildren) return null;
      const child = {
        top: children.get(event.parent)?.top ?? event.parent,
        // Clients tell subagents apart by it.
        parentCallId: event.call_id ?? ulidOf(agent),
        name: event.label ?? "subagent",
        outcome: "completed" as MewOutcome,
      };
      children.set(agent, child);
      return child;
    },
    take(child, event) {
      const { agent } = event;
      if (agent === null) return [];
      const parent_call_id = child.parentCallId;
      switch (event.type) {
        case "agent_started":
          return [
            {
              type: "subagent_start",
              parent_call_id,
              name: child.name,
              child_session_id: ulidOf(agent),
              display_name: null,
            },
          ];
        case "tool_started":
          return [{ type: "subagent_status", parent_call_id, tool_name: event.tool, message: event.summary }];
        case "turn_finished": {
          const known = children.get(agent);
          if (known) known.outcome = outcomeOf(event);
          return [];
        }
        case "agent_finished": {
          const outcome = children.get(agent)?.outcome ?? "completed";
          children.delete(agent);
          return [
            {
              type: "subagent_end",
              parent_call_id,
              child_session_id: ulidOf(agent),
              outcome,
              manifests: [],
            },
          ];
        }
        default:
          return [];
      }
    },
  };
}

function outcomeOf(event: Extract<AgentEvent, { type: "turn_finished" }>): MewOutcome {
  if (event.outcome === "done") return "completed";
  if (event.outcome === "cancelled") return "cancelled";
  return { failed: { reason: event.error ?? "The turn failed." } };
}

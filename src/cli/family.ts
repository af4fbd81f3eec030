import type { Change, Snapshot } from "../protocol/changes.ts";

/** An agent and its subagents, down to the last: whose requests a person at this agent answers. */
export interface Family {
  has(agent: string | null): boolean;
  hear(change: Pick<Change, "type"> | Change): void;
}

/**
 * @param root the agent at the top
 * @param state who exists by now; `hear` must get every change from there on
 */
export function createFamily(root: string, state: Pick<Snapshot, "workspace">): Family {
  const members = new Set([root]);
  const rows = state.workspace.tabs.flatMap(({ agents }) => agents);
  // A child may stand before its parent; as many rounds as there are rows reach the last.
  for (let before = 0; before < members.size; ) {
    before = members.size;
    for (const { id, parent } of rows) if (parent !== null && members.has(parent)) members.add(id);
  }
  return {
    has: (agent) => agent !== null && members.has(agent),
    hear(change) {
      if (!("event" in change)) {
        if ("agent" in change && change.type === "agent_updated" && isIn(change.agent.parent))
          members.add(change.agent.id);
        return;
      }
      const { event } = change;
      if (event.type === "agent_started" && event.agent !== null && isIn(event.parent))
        members.add(event.agent);
    },
  };

  function isIn(parent: string | null): boolean {
    return parent !== null && members.has(parent);
  }
}

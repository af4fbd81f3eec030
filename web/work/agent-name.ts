import type { Agent } from "../../src/protocol/objects.ts";
import { visible } from "../ui/visible-text.ts";

/** What an agent is called: its title, else its label, else what it runs on. Hidden characters are shown. */
export function agentName(agent: Pick<Agent, "title" | "label" | "runtime">): string {
  return visible(agent.title ?? agent.label ?? (agent.runtime === "shell" ? "Shell" : agent.runtime));
}

import { SallyportError } from "../../errors.ts";
import type { Agents } from "../agents/agents.ts";
import type { LiveAgent, Turn } from "../agents/live-agent.ts";
import { engineLimits } from "../engine-limits.ts";

const busyText = 'The agent is busy. Wait for its turn to end, or send the prompt with "queue": true.';
const reservedText = "The next turn is already reserved.";

/** Takes the agent's turn, or its next turn, at once: of any number that come in the same moment one gets it. */
export function reserveTurn(
  agents: Agents,
  agent: LiveAgent,
  turn: Turn,
  options: { readonly queue: boolean },
): void {
  if (agent.closing) throw new SallyportError("not_found", "This agent is being closed.", { field: "agent" });
  if (agent.next) throw new SallyportError("conflict", reservedText, { reason: "busy" });
  if (!agent.current) {
    const running = agents.list().filter((each) => each.current).length;
    if (running >= engineLimits.runningTurns)
      throw new SallyportError("overloaded", "Too many agents are running; wait for one to end.");
    agent.current = turn;
  } else if (options.queue) agent.next = turn;
  else throw new SallyportError("conflict", busyText, { reason: "busy" });
}

/** Gives back what `reserveTurn` took, for a turn that was never accepted. */
export function unreserveTurn(agent: LiveAgent, turn: Turn): void {
  if (agent.current === turn) agent.current = null;
  if (agent.next === turn) agent.next = null;
  turn.markEnded();
  if (!agent.current) void agent.transcript.release();
}

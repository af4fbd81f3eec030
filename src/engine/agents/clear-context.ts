import { SallyportError } from "../../errors.ts";
import { newId } from "../../lib/ids.ts";
import type { Actor } from "../actor.ts";
import { orRefuse } from "../disk-refusal.ts";
import { noAgent } from "../not-found.ts";
import type { ChooseRuntime } from "../runtimes/choose-runtime.ts";
import type { EventSequence } from "../transcripts/event-sequence.ts";
import type { TurnRunner } from "../turns/turn-runner.ts";
import { reserveTurn, unreserveTurn } from "../turns/turn-slots.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";
import type { Agents } from "./agents.ts";
import { createTurn, type LiveAgent } from "./live-agent.ts";

export interface ClearContextOptions {
  readonly workspaces: Workspaces;
  readonly agents: Agents;
  readonly runner: TurnRunner;
  readonly sequence: EventSequence;
  readonly runtimeFor: ChooseRuntime;
  readonly recover: (agent: LiveAgent) => Promise<void>;
  readonly assertOpen: () => void;
}

/**
 * Makes an agent go on as if nothing had been said: the record `cleared`, behind which its history begins. It takes the
 * agent's turn for that moment, so that no prompt gets in between. Throws `not_found`, `not_supported` (a subagent),
 * `conflict` (busy), `disk_full`.
 */
export async function clearContext(
  options: ClearContextOptions,
  agentId: string,
  actor: Actor,
): Promise<void> {
  const { workspaces, agents } = options;
  options.assertOpen();
  actor.assertLive();
  const place = workspaces.store.findAgent(agentId);
  if (!place) throw noAgent();
  if (place.agent.parent !== null)
    throw new SallyportError(
      "not_supported",
      "A subagent knows its task only; clear the one that started it.",
      {
        field: "agent",
      },
    );
  const { runtime } = options.runtimeFor(place.agent.runtime, place.agent.model, place.tab);
  const agent = agents.get(agentId);
  const turn = createTurn({ id: newId(), requestId: null, text: "", by: actor.by });
  reserveTurn(agents, agent, turn, { queue: false });
  try {
    await options.recover(agent);
    await orRefuse(options.sequence.ensure());
    await agent.transcript.record([{ type: "cleared" }], {
      sync: true,
      beforeWrite() {
        options.assertOpen();
        actor.assertLive();
        if (agent.closing) throw noAgent();
      },
    });
    await runtime.clear?.(agentId);
  } finally {
    unreserveTurn(agent, turn);
    if (agent.next?.accepted) options.runner.beginReserved(agent);
  }
}

import { SallyportError } from "../../errors.ts";
import { newId } from "../../lib/ids.ts";
import type { CommandOf } from "../../protocol/commands.ts";
import type { Actor } from "../actor.ts";
import type { Agents } from "../agents/agents.ts";
import { createTurn, type LiveAgent } from "../agents/live-agent.ts";
import { orRefuse } from "../disk-refusal.ts";
import type { CompactReceipt } from "../engine.ts";
import { noAgent } from "../not-found.ts";
import type { ChooseRuntime } from "../runtimes/choose-runtime.ts";
import type { EventSequence } from "../transcripts/event-sequence.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";
import { openingRecords } from "./opening-records.ts";
import type { TurnRunner } from "./turn-runner.ts";
import { reserveTurn, unreserveTurn } from "./turn-slots.ts";

export interface CompactOptions {
  readonly workspaces: Workspaces;
  readonly agents: Agents;
  readonly runner: TurnRunner;
  readonly sequence: EventSequence;
  readonly runtimeFor: ChooseRuntime;
  readonly recover: (agent: LiveAgent) => Promise<void>;
  readonly assertOpen: () => void;
}

/**
 * Begins a compaction: a turn of its own, so that it is seen, cancelled and recovered like any other. Resolves when it was
 * accepted; `compacted` and `turn_finished` follow. Throws `not_found`, `not_supported`, `conflict` (busy), `disk_full`.
 */
export async function beginCompaction(
  options: CompactOptions,
  command: CommandOf<"compact">,
  actor: Actor,
): Promise<CompactReceipt> {
  const { workspaces, agents } = options;
  options.assertOpen();
  actor.assertLive();
  const place = workspaces.store.findAgent(command.agent);
  if (!place) throw noAgent();
  const { runtime } = options.runtimeFor(place.agent.runtime, place.agent.model, place.tab);
  if (!runtime.compact || place.agent.parent !== null)
    throw new SallyportError(
      "not_supported",
      `An agent of the runtime ${runtime.name}, and any subagent, has no context of its own to make smaller.`,
      { field: "agent" },
    );
  const agent = agents.get(place.agent.id);
  const turn = createTurn({ id: newId(), kind: "compact", requestId: null, text: "", by: actor.by });
  reserveTurn(agents, agent, turn, { queue: false });
  try {
    await options.recover(agent);
    await orRefuse(options.sequence.ensure());
    await agent.transcript.record(openingRecords(turn), {
      sync: true,
      beforeWrite() {
        options.assertOpen();
        actor.assertLive();
        if (agent.closing) throw noAgent();
      },
      onAnnounce() {
        turn.accepted = true;
        agent.live = true;
        agents.markLoaded(place.tab.id);
        agents.announceTab(place.tab.id);
        agents.announceAgent(agent.id);
      },
    });
  } catch (error) {
    unreserveTurn(agent, turn);
    if (agent.next?.accepted && !agent.current) options.runner.beginReserved(agent);
    throw error;
  }
  options.runner.begin(agent, turn);
  return { workspace: place.workspace.id, tab: place.tab.id, agent: agent.id, turn: turn.id };
}

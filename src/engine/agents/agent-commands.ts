import { rm } from "node:fs/promises";
import type { ChangeBody } from "../../protocol/changes.ts";
import type { CommandOf } from "../../protocol/commands.ts";
import { limits } from "../../protocol/limits.ts";
import type { Agent } from "../../protocol/objects.ts";
import type { Actor } from "../actor.ts";
import { orRefuse } from "../disk-refusal.ts";
import { engineLimits } from "../engine-limits.ts";
import { noAgent } from "../not-found.ts";
import type { ChooseRuntime, LearnModel } from "../runtimes/choose-runtime.ts";
import type { EventSequence } from "../transcripts/event-sequence.ts";
import { transcriptPath } from "../transcripts/transcript.ts";
import { openingRecords } from "../turns/opening-records.ts";
import { removeReservedPrompt } from "../turns/reserved-prompt.ts";
import { cleanLabel } from "../visible-text.ts";
import { agentRow } from "../workspaces/rows.ts";
import type { AgentDoc, TabDoc } from "../workspaces/workspace-doc.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";
import type { Agents } from "./agents.ts";
import type { LiveAgent, TurnEndReason } from "./live-agent.ts";
import { newAgentDoc, startedRecord } from "./new-agent.ts";

export interface AgentCommands {
  start(command: CommandOf<"agent_start">, actor: Actor): Promise<Agent>;
  /** Ends the current turn and waits for that a while; the reserved turn then begins. Does nothing to an idle agent. */
  cancel(agentId: string, actor: Actor): Promise<void>;
  close(agentId: string, actor: Actor): Promise<void>;
  /** Ends the turns of agents that are being closed, the reserved ones too. */
  endTurns(agents: readonly LiveAgent[]): Promise<void>;
  announceClosed(agent: AgentDoc, tab: string): void;
  /** Undoes a new agent whose first record was refused. */
  takeBack(tab: string, agent: LiveAgent): Promise<void>;
}

export interface AgentCommandsOptions {
  readonly workspaces: Workspaces;
  readonly agents: Agents;
  readonly sequence: EventSequence;
  readonly runtimeFor: ChooseRuntime;
  readonly learnModel: LearnModel;
  /** Reads what there is to know of a tab's project before the tab counts as loaded. */
  readonly loadProject: (tab: TabDoc) => Promise<void>;
  /** Ends what a crash left open in a transcript, once. */
  readonly recover: (agent: LiveAgent) => Promise<void>;
  readonly assertOpen: () => void;
  readonly sessionsFolder: string;
  readonly now: () => number;
  readonly append: (change: ChangeBody) => void;
  readonly report: (problem: string) => void;
}

/**
 * Every command calls `assertOpen` and the actor's `assertLive` at its commit point, in the moment before something is kept.
 */
export function createAgentCommands(options: AgentCommandsOptions): AgentCommands {
  const { agents, workspaces, sessionsFolder } = options;

  function announceClosed(doc: AgentDoc, tab: string): void {
    options.append({
      type: "agent_updated",
      agent: agentRow(doc, tab, { state: "closed", live: false, turn: null, queued: false }),
    });
  }

  async function takeBack(tab: string, agent: LiveAgent): Promise<void> {
    const doc = workspaces.store.findAgent(agent.id)?.agent;
    await agent.transcript.release();
    await rm(transcriptPath(sessionsFolder, agent.id), { force: true }).catch((error: Error) => {
      options.report(`an empty transcript could not be removed: ${error.message}`);
    });
    await workspaces
      .removeAgents(tab, [agent.id], () => undefined)
      .catch((error: Error) => {
        options.report(`agent ${agent.id} could not be taken back: ${error.message}`);
      });
    if (doc && !workspaces.store.findAgent(agent.id)) announceClosed(doc, tab);
    agents.announceTab(tab);
  }

  /** Writes the reserved turn down as cancelled: it was accepted, so it is not lost without a trace. */
  async function dropReserved(agent: LiveAgent): Promise<void> {
    const turn = agent.next;
    if (!turn?.accepted) return;
    agent.next = null;
    await agent.transcript.record(
      [...openingRecords(turn), { type: "turn_finished", turn: turn.id, outcome: "cancelled" }],
      { owe: true },
    );
    turn.markEnded();
    await removeReservedPrompt(sessionsFolder, agent.id).catch((error: Error) => {
      options.report(`a reserved prompt could not be removed: ${error.message}`);
    });
  }

  async function endTurns(ending: readonly LiveAgent[]): Promise<void> {
    // What a crash left open in an agent that was not touched since: once it is closed, nobody would end it.
    for (const agent of ending)
      if (agent.recovery === null)
        await options.recover(agent).catch((error: Error) => {
          options.report(`${agent.id} not recovered: ${error.message}`);
        });
    await Promise.all(
      ending.map(async (agent) => {
        await endTurn(agent);
        await dropReserved(agent);
      }),
    );
  }

  async function addAndAnnounce(
    doc: AgentDoc,
    tab: TabDoc,
    agent: LiveAgent,
    commit: () => void,
  ): Promise<void> {
    await orRefuse(options.sequence.ensure());
    await workspaces.addAgent(tab.id, doc, commit);
    try {
      await agent.transcript.record([startedRecord(doc, tab.cwd)], {
        sync: true,
        beforeWrite: commit,
        onAnnounce() {
          agent.live = true;
          agents.markLoaded(tab.id);
          agents.announceTab(tab.id);
          agents.announceAgent(doc.id);
        },
      });
    } catch (error) {
      await takeBack(tab.id, agent);
      throw error;
    }
    await agent.transcript.release();
  }

  return {
    async start(command, actor) {
      options.assertOpen();
      actor.assertLive();
      const { workspace, tab } = workspaces.tabOrActive(command.tab);
      const name = command.runtime ?? tab.runtime;
      const model = command.model ?? (name === tab.runtime ? (tab.model ?? null) : null);
      await options.learnModel(name, model, tab);
      actor.assertLive();
      const { runtime, chosen } = options.runtimeFor(name, model, tab);
      const label = cleanLabel(command.label ?? "", limits.labelChars) || null;
      const doc = newAgentDoc({ label, runtime: runtime.name, model: chosen, atMs: options.now() });
      await options.loadProject(tab);
      const agent = agents.get(doc.id);
      agent.recovery = Promise.resolve();
      try {
        await addAndAnnounce(doc, tab, agent, () => {
          options.assertOpen();
          actor.assertLive();
          if (agent.closing) throw noAgent();
        });
      } catch (error) {
        agents.forget(doc.id);
        throw error;
      }
      workspaces.touch(workspace.id);
      return agents.agentRow(doc.id) ?? agentRow(doc, tab.id, agents.activityOf(doc.id));
    },
    async cancel(agentId, actor) {
      if (!workspaces.store.findAgent(agentId)) throw noAgent();
      actor.assertLive();
      const agent = agents.peek(agentId);
      if (agent) await endTurn(agent);
    },
    async close(agentId, actor) {
      const place = workspaces.store.findAgent(agentId);
      if (!place || agents.peek(agentId)?.closing) throw noAgent();
      actor.assertLive();
      // Its subagents go with it.
      const docs = familyOf(place.tab, agentId);
      const family = docs.map((doc) => agents.get(doc.id));
      for (const each of family) each.closing = true;
      try {
        await endTurns(family);
        const ids = docs.map((doc) => doc.id);
        await workspaces.removeAgents(place.tab.id, ids, () => actor.assertLive());
      } catch (error) {
        for (const each of family) each.closing = false;
        throw error;
      }
      for (const doc of docs.toReversed()) announceClosed(doc, place.tab.id);
      agents.announceTab(place.tab.id);
      await Promise.all(family.map((each) => agents.retire(each.id)));
    },
    endTurns,
    announceClosed,
    takeBack,
  };
}

/** The agent and all that stand below it, each before those below it. */
function familyOf(tab: TabDoc, agentId: string): readonly AgentDoc[] {
  const family = tab.agents.filter((agent) => agent.id === agentId);
  for (const member of family)
    family.push(...tab.agents.filter((agent) => agent.parent === member.id && !family.includes(agent)));
  return family;
}

/** Ends the current turn and waits for its end, but not for ever: a process may take its time to die. */
async function endTurn(agent: LiveAgent): Promise<void> {
  const turn = agent.current;
  if (!turn) return;
  turn.controller.abort("cancelled" satisfies TurnEndReason);
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, engineLimits.cancelWaitMs);
  });
  await Promise.race([turn.ended, timeout]);
  clearTimeout(timer);
}

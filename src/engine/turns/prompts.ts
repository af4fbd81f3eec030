import { SallyportError } from "../../errors.ts";
import { newId } from "../../lib/ids.ts";
import type { CommandOf } from "../../protocol/commands.ts";
import { limits } from "../../protocol/limits.ts";
import { type Actor, ownerKey } from "../actor.ts";
import type { Agents } from "../agents/agents.ts";
import { createTurn, type LiveAgent, type Turn } from "../agents/live-agent.ts";
import { newAgentDoc, startedRecord } from "../agents/new-agent.ts";
import { orRefuse } from "../disk-refusal.ts";
import type { PromptReceipt } from "../engine.ts";
import { engineLimits } from "../engine-limits.ts";
import type { ReceiptStore, ReceiptTicket } from "../receipts/receipt-store.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import type { EventSequence } from "../transcripts/event-sequence.ts";
import { cleanLabel } from "../visible-text.ts";
import type { AgentDoc, TabDoc, WorkspaceDoc } from "../workspaces/workspace-doc.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";
import { removeReservedPrompt, writeReservedPrompt } from "./reserved-prompt.ts";
import { openingRecords, type TurnRunner } from "./turn-runner.ts";

export interface Prompts {
  prompt(command: CommandOf<"prompt">, actor: Actor): Promise<PromptReceipt>;
}

export interface PromptsOptions {
  readonly workspaces: Workspaces;
  readonly agents: Agents;
  readonly receipts: ReceiptStore;
  readonly runner: TurnRunner;
  readonly sequence: EventSequence;
  readonly runtimeFor: (runtime: string, model: string | null, tab: TabDoc) => Runtime;
  readonly recover: (agent: LiveAgent) => Promise<void>;
  /** Undoes a new agent whose first record was refused. */
  readonly takeBack: (tab: string, agent: LiveAgent) => Promise<void>;
  /** Throws when the daemon is stopping. */
  readonly assertOpen: () => void;
  readonly sessionsFolder: string;
  readonly now: () => number;
  readonly report: (problem: string) => void;
}

interface Target {
  readonly workspace: WorkspaceDoc;
  readonly tab: TabDoc;
  readonly agent: AgentDoc;
  readonly isNew: boolean;
}

const busyText = 'The agent is busy. Wait for its turn to end, or send the prompt with "queue": true.';
const reservedText = "The next turn is already reserved.";

/**
 * Accepts prompts. The order is: the receipt's intent on disk, then (for a new agent) its row, then the turn's first
 * records, then the announcement and the answer. A crash between any two is settled by what the transcript holds.
 */
export function createPrompts(options: PromptsOptions): Prompts {
  const { agents, workspaces, sequence } = options;

  function findTarget(command: CommandOf<"prompt">): Target {
    if (command.agent !== undefined) {
      const place = workspaces.store.findAgent(command.agent);
      if (!place) throw new SallyportError("not_found", "There is no such agent; it may have been closed.");
      return { ...place, isNew: false };
    }
    const { workspace, tab } = workspaces.tabOrActive(command.tab);
    const label = cleanLabel(command.text.slice(0, 4 * limits.labelChars), limits.labelChars);
    const agent = newAgentDoc({
      label: label || null,
      runtime: tab.runtime,
      model: null,
      atMs: options.now(),
    });
    return { workspace, tab, agent, isNew: true };
  }

  /** Takes the agent's turn, or its next turn, at once: of any number of prompts in the same moment one gets it. */
  function reserve(agent: LiveAgent, turn: Turn, queue: boolean): void {
    if (agent.closing) throw new SallyportError("not_found", "This agent is being closed.");
    if (agent.next) throw new SallyportError("conflict", reservedText, { reason: "busy" });
    if (!agent.current) {
      const running = agents.list().filter((each) => each.current).length;
      if (running >= engineLimits.runningTurns)
        throw new SallyportError("overloaded", "Too many agents are running; wait for one to end.");
      agent.current = turn;
    } else if (queue) agent.next = turn;
    else throw new SallyportError("conflict", busyText, { reason: "busy" });
  }

  function unreserve(agent: LiveAgent, turn: Turn): void {
    if (agent.current === turn) agent.current = null;
    if (agent.next === turn) agent.next = null;
    turn.markEnded();
    if (!agent.current) void agent.transcript.release();
  }

  async function accept(
    command: CommandOf<"prompt">,
    actor: Actor,
    ticket: ReceiptTicket | null,
  ): Promise<PromptReceipt> {
    options.assertOpen();
    actor.assertLive();
    const target = findTarget(command);
    const runtime = options.runtimeFor(target.agent.runtime, target.agent.model, target.tab);
    runtime.checkPrompt({
      text: command.text,
      images: command.images?.length ?? 0,
      attachments: command.attachments?.length ?? 0,
    });
    const agent = agents.get(target.agent.id);
    if (target.isNew) agent.recovery = Promise.resolve();
    const turn = createTurn({
      id: newId(),
      requestId: command.request_id ?? null,
      text: command.text,
      by: actor.by,
    });
    reserve(agent, turn, command.queue ?? false);
    const place = {
      workspace: target.workspace.id,
      tab: target.tab.id,
      agent: agent.id,
      turn: turn.id,
    };
    /** Checked in the moment before anything of this prompt is written. */
    const commit = (): void => {
      options.assertOpen();
      actor.assertLive();
      if (agent.closing) throw new SallyportError("not_found", "This agent was closed.");
    };
    try {
      await options.recover(agent);
      await orRefuse(sequence.ensure());
      await ticket?.intend(place, sequence.last, commit);
      if (agent.next === turn) await acceptReserved(agent, turn, commit);
      else await acceptNow(target, agent, turn, commit);
    } catch (error) {
      unreserve(agent, turn);
      if (target.isNew) agents.forget(agent.id);
      else if (agent.next?.accepted && !agent.current) options.runner.beginReserved(agent);
      throw error;
    }
    workspaces.touch(target.workspace.id);
    return { request_id: command.request_id ?? null, status: "accepted", ...place };
  }

  async function acceptNow(target: Target, agent: LiveAgent, turn: Turn, commit: () => void): Promise<void> {
    if (target.isNew) await workspaces.addAgent(target.tab.id, target.agent, commit);
    const opening = openingRecords(turn);
    try {
      await agent.transcript.record(
        target.isNew ? [startedRecord(target.agent, target.tab.cwd), ...opening] : opening,
        {
          sync: true,
          beforeWrite: commit,
          onAnnounce() {
            turn.accepted = true;
            agent.live = true;
            agents.markLoaded(target.tab.id);
            agents.announceTab(target.tab.id);
            agents.announceAgent(agent.id);
          },
        },
      );
    } catch (error) {
      if (target.isNew) await options.takeBack(target.tab.id, agent);
      throw error;
    }
    options.runner.begin(agent, turn);
  }

  async function acceptReserved(agent: LiveAgent, turn: Turn, commit: () => void): Promise<void> {
    commit();
    await writeReservedPrompt(options.sessionsFolder, agent.id, {
      version: 1,
      turn: turn.id,
      request_id: turn.requestId,
      text: turn.text,
      by: turn.by,
      seq: sequence.last,
    });
    try {
      commit();
    } catch (error) {
      await removeReservedPrompt(options.sessionsFolder, agent.id);
      throw error;
    }
    turn.accepted = true;
    if (agent.current) agents.announceAgent(agent.id);
    else options.runner.beginReserved(agent);
  }

  return {
    async prompt(command, actor) {
      if (command.text.length > limits.promptChars)
        throw new SallyportError("too_large", `A prompt may have at most ${limits.promptChars} characters.`, {
          field: "text",
        });
      const requestId = command.request_id;
      if (requestId === undefined) return accept(command, actor, null);
      actor.assertLive();
      return options.receipts.once(ownerKey(actor), requestId, (ticket) => accept(command, actor, ticket));
    },
  };
}

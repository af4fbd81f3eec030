import { SallyportError } from "../../errors.ts";
import { newId } from "../../lib/ids.ts";
import type { CommandOf } from "../../protocol/commands.ts";
import { limits } from "../../protocol/limits.ts";
import { type Actor, ownerKey } from "../actor.ts";
import type { Agents } from "../agents/agents.ts";
import { createTurn, type LiveAgent, type Turn } from "../agents/live-agent.ts";
import { newAgentDoc, startedRecord } from "../agents/new-agent.ts";
import { orRefuse } from "../disk-refusal.ts";
import { noAgent } from "../not-found.ts";
import type { PromptReceipt } from "../receipts/prompt-receipt.ts";
import type { ReceiptStore, ReceiptTicket } from "../receipts/receipt-store.ts";
import type { ChooseRuntime } from "../runtimes/choose-runtime.ts";
import type { PreparePrompt } from "../slash/prepare-prompt.ts";
import type { EventSequence } from "../transcripts/event-sequence.ts";
import { cleanLabel } from "../visible-text.ts";
import type { AgentDoc, TabDoc, WorkspaceDoc } from "../workspaces/workspace-doc.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";
import { openingRecords } from "./opening-records.ts";
import { removeReservedPrompt, writeReservedPrompt } from "./reserved-prompt.ts";
import type { TurnRunner } from "./turn-runner.ts";
import { reserveTurn, unreserveTurn } from "./turn-slots.ts";

export interface Prompts {
  /** @param owner whose `request_id` it is; default: the actor's */
  prompt(command: CommandOf<"prompt">, actor: Actor, owner?: string): Promise<PromptReceipt>;
}

export interface PromptsOptions {
  readonly workspaces: Workspaces;
  readonly agents: Agents;
  readonly receipts: ReceiptStore;
  readonly runner: TurnRunner;
  readonly sequence: EventSequence;
  readonly runtimeFor: ChooseRuntime;
  readonly recover: (agent: LiveAgent) => Promise<void>;
  /** Works out what a prompt stands for. Throws what makes it refused. */
  readonly prepare: PreparePrompt;
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

/**
 * Accepts prompts. The order is: the receipt's intent on disk, then (for a new agent) its row, then the turn's first
 * records, then the announcement and the answer. A crash between any two is settled by what the transcript holds.
 */
export function createPrompts(options: PromptsOptions): Prompts {
  const { agents, workspaces, sequence } = options;

  function findTarget(command: CommandOf<"prompt">): Target {
    if (command.agent !== undefined) {
      const place = workspaces.store.findAgent(command.agent);
      if (!place) throw noAgent();
      if (place.agent.parent !== null)
        throw new SallyportError(
          "not_supported",
          "This is a subagent: the agent that started it gives it its task. Prompt that one.",
          { field: "agent" },
        );
      return { ...place, isNew: false };
    }
    const { workspace, tab } = workspaces.tabOrActive(command.tab);
    const label = cleanLabel(command.text.slice(0, 4 * limits.labelChars), limits.labelChars);
    const agent = newAgentDoc({
      label: label || null,
      runtime: tab.runtime,
      model: tab.model ?? null,
      atMs: options.now(),
    });
    return { workspace, tab, agent, isNew: true };
  }

  async function accept(
    command: CommandOf<"prompt">,
    actor: Actor,
    ticket: ReceiptTicket | null,
  ): Promise<PromptReceipt> {
    options.assertOpen();
    actor.assertLive();
    const found = findTarget(command);
    const { runtime, chosen } = options.runtimeFor(found.agent.runtime, found.agent.model, found.tab);
    const target: Target = found.isNew ? { ...found, agent: { ...found.agent, model: chosen } } : found;
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
    reserveTurn(agents, agent, turn, { queue: command.queue ?? false });
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
      if (agent.closing) throw new SallyportError("not_found", "This agent was closed.", { field: "agent" });
    };
    try {
      turn.input = await options.prepare({ command, tab: target.tab, agent: agent.id, runtime, actor });
      void turn.ended.then(() => turn.input.release());
      await options.recover(agent);
      await orRefuse(sequence.ensure());
      await ticket?.intend(place, sequence.last, commit);
      if (agent.next === turn) await acceptReserved(agent, turn, commit);
      else await acceptNow(target, agent, turn, commit);
    } catch (error) {
      unreserveTurn(agent, turn);
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
      attachments: [...turn.input.attachments],
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
    async prompt(command, actor, owner = ownerKey(actor)) {
      if (command.text.length > limits.promptChars)
        throw new SallyportError("too_large", `A prompt may have at most ${limits.promptChars} characters.`, {
          field: "text",
        });
      const requestId = command.request_id;
      if (requestId === undefined) return accept(command, actor, null);
      actor.assertLive();
      return options.receipts.once(owner, requestId, (ticket) => accept(command, actor, ticket));
    },
  };
}

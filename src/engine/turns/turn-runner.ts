import { SallyportError } from "../../errors.ts";
import { newId } from "../../lib/ids.ts";
import type { LiveAgent, Turn } from "../agents/live-agent.ts";
import { engineLimits } from "../engine-limits.ts";
import type { Runtime, TurnContext, TurnOutcome } from "../runtimes/runtime.ts";
import { readHistory } from "../transcripts/read-history.ts";
import { createAgentContext } from "./agent-context.ts";
import { endTurn, turnEnd } from "./end-turn.ts";
import { openingRecords } from "./opening-records.ts";
import { removeReservedPrompt } from "./reserved-prompt.ts";
import { createSubagents, type Subagents, type SubagentsOptions } from "./subagents.ts";

export interface TurnRunner {
  /** Runs a turn whose first records were announced, to its end, and the reserved one after it. */
  begin(agent: LiveAgent, turn: Turn): void;
  /** Begins the reserved turn of an idle agent. */
  beginReserved(agent: LiveAgent): void;
}

export interface TurnRunnerOptions extends SubagentsOptions {
  readonly runtimes: ReadonlyMap<string, Runtime>;
  readonly sessionsFolder: string;
  /** Throws when the tab's folder is gone, or is another one now. */
  readonly checkFolder: (cwd: string) => Promise<void>;
  readonly report: (problem: string) => void;
}

/** What a runtime throws becomes the outcome `failed`; an end that the disk refuses is owed and reported. */
export function createTurnRunner(options: TurnRunnerOptions): TurnRunner {
  const { store, agents } = options;

  async function runRuntime(agent: LiveAgent, turn: Turn, subagents: Subagents): Promise<TurnOutcome> {
    const place = store.findAgent(agent.id);
    const runtime = options.runtimes.get(place?.agent.runtime ?? "");
    if (!place || !runtime)
      return { outcome: "failed", error: "The runtime of this agent is not available." };
    if (turn.input.answer) {
      const message = { id: newId(), text: await turn.input.answer() };
      await agent.transcript.record([{ type: "assistant_message", message }]);
      return { outcome: "done" };
    }
    await options.checkFolder(place.tab.cwd);
    const context: TurnContext = {
      ...createAgentContext(options, {
        agent,
        turn,
        top: agent,
        name: null,
        startSubagent: subagents.start,
      }),
      workspace: place.workspace.id,
      tab: place.tab.id,
      text: turn.input.text,
      parts: turn.input.parts,
      cwd: place.tab.cwd,
      model: place.agent.model,
      thinking: place.agent.thinking ?? null,
      history: () => readHistory(options.sessionsFolder, agent.id),
      commandsChanged() {
        const tab = store.findAgent(agent.id)?.tab.id;
        if (tab !== undefined) agents.announceTab(tab);
      },
    };
    if (turn.kind === "prompt") return runtime.runTurn(context);
    if (!runtime.compact) return { outcome: "failed", error: "This runtime has no context to make smaller." };
    const summary = await runtime.compact(context);
    if (!turn.controller.signal.aborted)
      await context.record({ type: "compacted", summary: summary.slice(0, engineLimits.summaryChars) });
    return { outcome: "done" };
  }

  async function run(agent: LiveAgent, turn: Turn): Promise<void> {
    const { signal } = turn.controller;
    const subagents = createSubagents(options, { agent, turn, top: agent, depth: 0 });
    let outcome: TurnOutcome = { outcome: "done" };
    try {
      if (!signal.aborted) outcome = await runRuntime(agent, turn, subagents);
    } catch (error) {
      outcome = { outcome: "failed", error: failureText(error) };
      if (!(error instanceof SallyportError) && !signal.aborted)
        options.report(`turn ${turn.id} failed: ${error instanceof Error ? error.stack : String(error)}`);
    }
    await finish(agent, turn, outcome, subagents);
  }

  async function finish(
    agent: LiveAgent,
    turn: Turn,
    outcome: TurnOutcome,
    subagents?: Subagents,
  ): Promise<void> {
    const { signal } = turn.controller;
    const end = turnEnd(turn, outcome);
    if (!signal.aborted) turn.controller.abort("cancelled");
    await subagents?.endAll();
    await endTurn({ permissions: options.permissions, questions: options.questions, agent, turn, end });
    const shuttingDown = signal.reason === "shutdown";
    if (agent.next?.accepted && !agent.current && !agent.closing && !shuttingDown) beginReserved(agent);
    else agents.announceAgent(agent.id);
    if (!agent.current) await agent.transcript.release();
  }

  function begin(agent: LiveAgent, turn: Turn): void {
    run(agent, turn).catch((error: Error) => {
      // The turn's end itself failed: free the agent all the same.
      options.report(`turn ${turn.id} did not end properly: ${error.stack}`);
      if (agent.current === turn) agent.current = null;
      turn.markEnded();
    });
  }

  async function runReserved(agent: LiveAgent, turn: Turn): Promise<void> {
    let refusal: unknown = null;
    await agent.transcript.record(openingRecords(turn), {
      sync: true,
      owe: true,
      onOwed: (error) => {
        refusal = error;
      },
      onAnnounce: () => agents.announceAgent(agent.id),
    });
    if (refusal !== null) {
      await finish(agent, turn, { outcome: "failed", error: failureText(refusal) });
      return;
    }
    await removeReservedPrompt(options.sessionsFolder, agent.id).catch((error: Error) => {
      options.report(`a reserved prompt could not be removed: ${error.message}`);
    });
    await run(agent, turn);
  }

  function beginReserved(agent: LiveAgent): void {
    const turn = agent.next;
    if (!turn) return;
    agent.next = null;
    agent.current = turn;
    runReserved(agent, turn).catch((error: Error) => {
      options.report(`turn ${turn.id} could not begin: ${error.stack}`);
      if (agent.current === turn) agent.current = null;
      turn.markEnded();
    });
  }

  return { begin, beginReserved };
}

function failureText(error: unknown): string {
  return error instanceof SallyportError
    ? error.message
    : "Something went wrong in the daemon; its log says what.";
}

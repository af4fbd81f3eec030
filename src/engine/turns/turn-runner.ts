import { SallyportError } from "../../errors.ts";
import type { AgentEventBody } from "../../protocol/events.ts";
import type { Agents } from "../agents/agents.ts";
import type { LiveAgent, Turn } from "../agents/live-agent.ts";
import { engineLimits } from "../engine-limits.ts";
import type { Permissions } from "../requests/permissions.ts";
import type { Questions } from "../requests/questions.ts";
import type { JudgeCall, RuleSet } from "../rules/rules.ts";
import type { CallToPermit, Permit, Runtime, TurnContext, TurnOutcome } from "../runtimes/runtime.ts";
import type { WorkspaceStore } from "../workspaces/workspace-store.ts";
import { stoppedText, turnStarted } from "./recover-agent.ts";
import { removeReservedPrompt } from "./reserved-prompt.ts";

export interface TurnRunner {
  /** Runs a turn whose first records were announced, to its end, and the reserved one after it. */
  begin(agent: LiveAgent, turn: Turn): void;
  /** Begins the reserved turn of an idle agent. */
  beginReserved(agent: LiveAgent): void;
}

export interface TurnRunnerOptions {
  readonly store: WorkspaceStore;
  readonly agents: Agents;
  readonly permissions: Permissions;
  readonly questions: Questions;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  readonly judgeCall: JudgeCall;
  readonly rules: () => RuleSet;
  readonly sessionsFolder: string;
  /** Throws when the tab's folder is gone, or is another one now. */
  readonly checkFolder: (cwd: string) => Promise<void>;
  readonly report: (problem: string) => void;
}

const cancelledPermit: Permit = { allowed: false, reason: "Cancelled before it ran." };

/** The first records of a turn. */
export function openingRecords(turn: Turn): AgentEventBody[] {
  return [
    turnStarted(turn.id, turn.requestId),
    { type: "user_message", turn: turn.id, text: turn.text, attachments: [], by: turn.by },
  ];
}

export function createTurnRunner(options: TurnRunnerOptions): TurnRunner {
  const { store, agents } = options;

  async function permit(agent: LiveAgent, turn: Turn, call: CallToPermit): Promise<Permit> {
    const place = store.findAgent(agent.id);
    if (!place || turn.controller.signal.aborted) return cancelledPermit;
    const { cwd, mode } = place.tab;
    const verdict = options.judgeCall(
      { tool: call.tool, subject: call.subject, cwd },
      mode,
      options.rules(),
      agent.sessionRules,
    );
    if (verdict.verdict === "deny") return { allowed: false, reason: `Denied by the rule ${verdict.by}.` };
    if (verdict.verdict === "ask") {
      const { answer } = await options.permissions.ask(
        {
          workspace: place.workspace.id,
          tab: place.tab.id,
          agent: agent.id,
          turn: turn.id,
          callId: call.callId,
          tool: call.tool,
          subject: call.subject,
          input: call.input,
          cwd,
          allowSession: verdict.allowSession,
        },
        waiting(agent, turn),
      );
      if (answer === null) return cancelledPermit;
      if (answer === "deny") return { allowed: false, reason: "Denied." };
      if (answer === "allow_session" && verdict.allowSession !== null)
        agent.sessionRules = [...agent.sessionRules, verdict.allowSession].slice(
          -engineLimits.sessionRulesPerAgent,
        );
    }
    return turn.controller.signal.aborted ? cancelledPermit : { allowed: true };
  }

  function waiting(agent: LiveAgent, turn: Turn) {
    return {
      record: agent.transcript.record,
      signal: turn.controller.signal,
      onChange: () => agents.announceAgent(agent.id),
    };
  }

  async function runRuntime(agent: LiveAgent, turn: Turn): Promise<TurnOutcome> {
    const place = store.findAgent(agent.id);
    const runtime = options.runtimes.get(place?.agent.runtime ?? "");
    if (!place || !runtime)
      return { outcome: "failed", error: "The runtime of this agent is not available." };
    await options.checkFolder(place.tab.cwd);
    const context: TurnContext = {
      workspace: place.workspace.id,
      tab: place.tab.id,
      agent: agent.id,
      turn: turn.id,
      text: turn.text,
      cwd: place.tab.cwd,
      model: place.agent.model,
      signal: turn.controller.signal,
      async record(...bodies) {
        await agent.transcript.record(bodies);
      },
      delta: (body) => agent.transcript.delta(body),
      permit: (call) => permit(agent, turn, call),
      askQuestion: (question) =>
        options.questions.ask(
          {
            workspace: place.workspace.id,
            tab: place.tab.id,
            agent: agent.id,
            turn: turn.id,
            call_id: question.callId,
            subagent: question.subagent,
            questions: question.questions
              .slice(0, engineLimits.questions)
              .map(({ prompt, options: choices, multiple }) => ({
                prompt,
                options: choices.map((choice) => ({ ...choice })),
                multiple,
              })),
          },
          waiting(agent, turn),
        ),
    };
    return runtime.runTurn(context);
  }

  async function run(agent: LiveAgent, turn: Turn): Promise<void> {
    const { signal } = turn.controller;
    let outcome: TurnOutcome = { outcome: "done" };
    try {
      if (!signal.aborted) outcome = await runRuntime(agent, turn);
    } catch (error) {
      outcome = { outcome: "failed", error: failureText(error) };
      if (!(error instanceof SallyportError) && !signal.aborted)
        options.report(`turn ${turn.id} failed: ${error instanceof Error ? error.stack : String(error)}`);
    }
    await finish(agent, turn, outcome);
  }

  async function finish(agent: LiveAgent, turn: Turn, outcome: TurnOutcome): Promise<void> {
    const { signal } = turn.controller;
    const end =
      signal.aborted && signal.reason === "shutdown"
        ? { outcome: "failed" as const, error: stoppedText }
        : signal.aborted
          ? { outcome: "cancelled" as const }
          : boundedOutcome(outcome);
    // What the runtime left behind ends with the turn.
    if (!signal.aborted) turn.controller.abort("cancelled");
    await Promise.all([options.permissions.endTurn(turn.id), options.questions.endTurn(turn.id)]);
    await agent.transcript.record([{ type: "turn_finished", turn: turn.id, ...end }], {
      owe: true,
      onAnnounce: () => {
        if (agent.current === turn) agent.current = null;
      },
    });
    turn.markEnded();
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

function boundedOutcome(outcome: TurnOutcome): TurnOutcome {
  if (outcome.outcome === "done") return outcome;
  return { outcome: "failed", error: outcome.error.slice(0, engineLimits.turnErrorChars) };
}

function failureText(error: unknown): string {
  return error instanceof SallyportError
    ? error.message
    : "Something went wrong in the daemon; its log says what.";
}

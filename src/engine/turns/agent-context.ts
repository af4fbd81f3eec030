import { SallyportError } from "../../errors.ts";
import type { AgentEventBody } from "../../protocol/events.ts";
import { limits } from "../../protocol/limits.ts";
import type { Mode } from "../../protocol/objects.ts";
import type { Agents } from "../agents/agents.ts";
import type { LiveAgent, Turn } from "../agents/live-agent.ts";
import { engineLimits } from "../engine-limits.ts";
import type { Permissions } from "../requests/permissions.ts";
import type { QuestionAnswer, Questions } from "../requests/questions.ts";
import type { JudgeCall, RuleSet, Verdict } from "../rules/rules.ts";
import type {
  AgentContext,
  CallToPermit,
  Permit,
  SubagentContext,
  SubagentSpec,
  TurnQuestion,
} from "../runtimes/runtime.ts";
import { cleanLabel } from "../visible-text.ts";
import type { WorkspaceStore } from "../workspaces/workspace-store.ts";

export interface AgentContextOptions {
  readonly store: WorkspaceStore;
  readonly agents: Agents;
  readonly permissions: Permissions;
  readonly questions: Questions;
  readonly judgeCall: JudgeCall;
  readonly rules: () => RuleSet;
}

export interface AgentContextOf {
  readonly agent: LiveAgent;
  readonly turn: Turn;
  /** Where `allow_session` is remembered: the agent at the top, whose subagents share its rules. */
  readonly top: LiveAgent;
  /** Name of a subagent in what it asks; null for the agent at the top. */
  readonly name: string | null;
  readonly startSubagent: (spec: SubagentSpec) => Promise<SubagentContext>;
}

const cancelledPermit: Permit = { allowed: false, reason: "Cancelled before it ran.", cancelled: true };

function denied(reason: string): Permit {
  return { allowed: false, reason, cancelled: false };
}

/** Makes what a runtime gets to work with for one agent and turn. */
export function createAgentContext(options: AgentContextOptions, of: AgentContextOf): AgentContext {
  const { agents, store } = options;
  const { agent, turn, top } = of;
  const { signal } = turn.controller;
  const waiting = {
    record: agent.transcript.record,
    signal,
    onChange: () => agents.announceAgent(agent.id),
  };

  /** The strictest of the verdicts on all that the call touches. What touches several things is remembered as none. */
  function judgeAll(call: CallToPermit, cwd: string, mode: Mode): Verdict {
    const { tool, shownAs, hidden, also = [] } = call;
    const verdicts = [call.subject, ...also].map((subject) =>
      options.judgeCall(
        {
          tool,
          subject,
          cwd,
          ...(shownAs === undefined ? {} : { name: shownAs }),
          ...(hidden === undefined ? {} : { hidden }),
        },
        mode,
        options.rules(),
        top.sessionRules,
      ),
    );
    const asks = verdicts.find(({ verdict }) => verdict === "ask");
    return (
      verdicts.find(({ verdict }) => verdict === "deny") ??
      (asks && also.length > 0 ? { verdict: "ask", allowSession: null } : asks) ??
      verdicts[0] ?? { verdict: "ask", allowSession: null }
    );
  }

  async function permit(call: CallToPermit): Promise<Permit> {
    const place = store.findAgent(agent.id);
    if (!place || signal.aborted) return cancelledPermit;
    const { cwd, mode } = place.tab;
    const { tool, subject, shownAs = tool } = call;
    const verdict = judgeAll(call, cwd, mode);
    if (verdict.verdict === "deny") return denied(`Denied by the rule ${verdict.by}.`);
    if (verdict.verdict === "ask") {
      const note = call.note?.() ?? null;
      const taken = call.signal ? AbortSignal.any([signal, call.signal]) : signal;
      const { answer } = await options.permissions.ask(
        {
          workspace: place.workspace.id,
          tab: place.tab.id,
          agent: agent.id,
          turn: turn.id,
          callId: call.callId,
          tool: shownAs,
          subject,
          input: call.input,
          cwd,
          allowSession: verdict.allowSession,
          ...(note === null ? {} : { note }),
        },
        { ...waiting, signal: taken },
      );
      if (answer === null) return cancelledPermit;
      if (answer === "deny") return denied("Denied.");
      if (answer === "allow_session" && verdict.allowSession !== null)
        top.sessionRules = [...top.sessionRules, verdict.allowSession].slice(
          -engineLimits.sessionRulesPerAgent,
        );
    }
    return signal.aborted ? cancelledPermit : { allowed: true };
  }

  async function askQuestion(question: TurnQuestion): Promise<QuestionAnswer> {
    const place = store.findAgent(agent.id);
    if (!place || signal.aborted) return { answers: [], cancelled: true };
    return options.questions.ask(
      {
        workspace: place.workspace.id,
        tab: place.tab.id,
        agent: agent.id,
        turn: turn.id,
        call_id: question.callId,
        subagent: question.subagent ?? of.name,
        questions: boundedQuestions(question),
      },
      waiting,
    );
  }

  return {
    agent: agent.id,
    turn: turn.id,
    signal,
    async record(...bodies) {
      // Behind its end nothing more belongs to the turn, whatever a runtime left behind still does.
      if (agent.current !== turn)
        throw new SallyportError("conflict", "This turn has ended.", { reason: "turn_over" });
      await agent.transcript.record(bodies.map(bounded));
    },
    delta(body) {
      if (agent.current === turn) agent.transcript.delta(body);
    },
    permit,
    askQuestion,
    startSubagent: of.startSubagent,
  };
}

/** What clients show in lists is cut to what lists can hold. */
function bounded(body: AgentEventBody): AgentEventBody {
  return body.type === "title" ? { ...body, title: cleanLabel(body.title, limits.labelChars) } : body;
}

function boundedQuestions({ questions }: TurnQuestion) {
  return questions.slice(0, engineLimits.questions).map(({ prompt, options, multiple }) => ({
    prompt: prompt.slice(0, engineLimits.questionChars),
    options: options.slice(0, engineLimits.questionOptions).map(({ label, description }) => ({
      label: cleanLabel(label, limits.labelChars),
      description: description === null ? null : cleanLabel(description, limits.promptChars).slice(0, 1_000),
    })),
    multiple,
  }));
}

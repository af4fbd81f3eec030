import { SallyportError } from "../../errors.ts";
import { newId } from "../../lib/ids.ts";
import type { ChangeBody } from "../../protocol/changes.ts";
import { limits } from "../../protocol/limits.ts";
import { createTurn, type LiveAgent, type Turn } from "../agents/live-agent.ts";
import { newAgentDoc, startedRecord } from "../agents/new-agent.ts";
import { orRefuse } from "../disk-refusal.ts";
import { engineLimits } from "../engine-limits.ts";
import type { SubagentContext, SubagentSpec } from "../runtimes/runtime.ts";
import type { EventSequence } from "../transcripts/event-sequence.ts";
import { cleanLabel } from "../visible-text.ts";
import { agentRow } from "../workspaces/rows.ts";
import type { AgentDoc, TabDoc } from "../workspaces/workspace-doc.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";
import { type AgentContextOptions, createAgentContext } from "./agent-context.ts";
import { endTurn, turnEnd } from "./end-turn.ts";
import { openingRecords } from "./opening-records.ts";

export interface SubagentsOptions extends AgentContextOptions {
  readonly workspaces: Workspaces;
  readonly sequence: EventSequence;
  readonly now: () => number;
  readonly append: (change: ChangeBody) => void;
  /** Undoes a new agent whose first record was refused. */
  readonly takeBack: (tab: string, agent: LiveAgent) => Promise<void>;
}

/** The subagents of one turn. */
export interface Subagents {
  start(spec: SubagentSpec): Promise<SubagentContext>;
  /** Ends those that still run, the deepest first. Resolves when their transcripts say so. */
  endAll(): Promise<void>;
}

export interface SubagentsOf {
  readonly agent: LiveAgent;
  readonly turn: Turn;
  readonly top: LiveAgent;
  readonly depth: number;
}

/** Agents below an agent: each with its own row, transcript, turn and requests; they end with the turn that started them. */
export function createSubagents(options: SubagentsOptions, parent: SubagentsOf): Subagents {
  const { workspaces, agents } = options;
  const running = new Map<string, SubagentContext>();
  let starting = 0;

  function check(): void {
    parent.turn.controller.signal.throwIfAborted();
    if (parent.depth >= engineLimits.subagentDepth)
      throw new SallyportError(
        "overloaded",
        `Subagents stand at most ${engineLimits.subagentDepth} deep below each other.`,
      );
    if (running.size + starting >= engineLimits.subagentsPerTurn)
      throw new SallyportError(
        "overloaded",
        `A turn has at most ${engineLimits.subagentsPerTurn} subagents at a time.`,
      );
  }

  async function begin(spec: SubagentSpec): Promise<SubagentContext> {
    const place = workspaces.store.findAgent(parent.agent.id);
    if (!place) throw new SallyportError("not_found", "The agent that started this one was closed.");
    const { tab } = place;
    const label = cleanLabel(spec.label, limits.labelChars) || "subagent";
    const doc = newAgentDoc({
      label,
      parent: parent.agent.id,
      runtime: place.agent.runtime,
      model: spec.model?.slice(0, limits.modelChars) ?? null,
      atMs: options.now(),
    });
    const child = agents.get(doc.id);
    child.recovery = Promise.resolve();
    const turn = createTurn({ id: newId(), requestId: null, text: spec.text, by: parent.turn.by });
    child.current = turn;
    const end = (): void => turn.controller.abort(parent.turn.controller.signal.reason);
    const commit = (): void => parent.turn.controller.signal.throwIfAborted();
    try {
      await orRefuse(options.sequence.ensure());
      const dropped = endedSiblings(tab);
      await workspaces.addAgent(tab.id, doc, commit, { activate: false, drop: dropped.map(({ id }) => id) });
      for (const each of dropped) forget(each, tab.id);
      await record(child, turn, doc, tab, spec.callId, commit);
    } catch (error) {
      child.current = null;
      turn.markEnded();
      agents.forget(doc.id);
      throw error;
    }
    parent.turn.controller.signal.addEventListener("abort", end, { once: true });
    if (parent.turn.controller.signal.aborted) end();
    return contextOf(child, turn, label, () =>
      parent.turn.controller.signal.removeEventListener("abort", end),
    );
  }

  async function record(
    child: LiveAgent,
    turn: Turn,
    doc: AgentDoc,
    tab: TabDoc,
    callId: string | null,
    commit: () => void,
  ): Promise<void> {
    try {
      await child.transcript.record([startedRecord(doc, tab.cwd, callId), ...openingRecords(turn)], {
        beforeWrite: commit,
        onAnnounce() {
          turn.accepted = true;
          child.live = true;
          agents.announceAgent(child.id);
        },
      });
    } catch (error) {
      await options.takeBack(tab.id, child);
      throw error;
    }
  }

  function contextOf(child: LiveAgent, turn: Turn, name: string, unlink: () => void): SubagentContext {
    const below = createSubagents(options, {
      agent: child,
      turn,
      top: parent.top,
      depth: parent.depth + 1,
    });
    let finishing: Promise<void> | null = null;
    const context: SubagentContext = {
      ...createAgentContext(options, {
        agent: child,
        turn,
        top: parent.top,
        name,
        startSubagent: below.start,
      }),
      finish(outcome) {
        finishing ??= (async () => {
          const end = turnEnd(turn, outcome);
          await below.endAll();
          await endTurn({
            ...options,
            agent: child,
            turn,
            end,
            after: [{ type: "agent_finished", outcome: end.outcome }],
          });
          unlink();
          running.delete(child.id);
          agents.announceAgent(child.id);
          await child.transcript.release();
        })();
        return finishing;
      },
    };
    running.set(child.id, context);
    return context;
  }

  /** Subagents of the same agent that have ended, but for the newest: they leave the tab. */
  function endedSiblings(tab: TabDoc): readonly AgentDoc[] {
    return tab.agents
      .filter((each) => each.parent === parent.agent.id && !agents.peek(each.id)?.current)
      .slice(0, -(engineLimits.endedSubagentsPerAgent - 1));
  }

  function forget(doc: AgentDoc, tab: string): void {
    options.append({
      type: "agent_updated",
      agent: agentRow(doc, tab, { state: "closed", live: false, turn: null, queued: false }),
    });
    agents.forget(doc.id);
  }

  return {
    async start(spec) {
      check();
      starting += 1;
      try {
        return await begin(spec);
      } finally {
        starting -= 1;
      }
    },
    async endAll() {
      await Promise.all([...running.values()].map((each) => each.finish({ outcome: "done" })));
    },
  };
}

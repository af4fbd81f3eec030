import type { AgentEventBody } from "../../protocol/events.ts";
import type { LiveAgent, Turn } from "../agents/live-agent.ts";
import { engineLimits } from "../engine-limits.ts";
import type { Permissions } from "../requests/permissions.ts";
import type { Questions } from "../requests/questions.ts";
import type { TurnOutcome } from "../runtimes/runtime.ts";
import { stoppedText } from "./recover-agent.ts";

export type TurnEnd =
  | { readonly outcome: "done" | "cancelled" }
  | { readonly outcome: "failed"; readonly error: string };

/** How a turn ends: what ended it from outside counts more than what the runtime says. */
export function turnEnd(turn: Turn, outcome: TurnOutcome): TurnEnd {
  const { signal } = turn.controller;
  if (signal.aborted && signal.reason === "shutdown") return { outcome: "failed", error: stoppedText };
  if (signal.aborted) return { outcome: "cancelled" };
  if (outcome.outcome === "done") return outcome;
  return { outcome: "failed", error: outcome.error.slice(0, engineLimits.turnErrorChars) };
}

export interface EndTurnOptions {
  readonly permissions: Permissions;
  readonly questions: Questions;
  readonly agent: LiveAgent;
  readonly turn: Turn;
  readonly end: TurnEnd;
  /** Records behind the turn's end. */
  readonly after?: readonly AgentEventBody[];
}

const unfinishedText = {
  done: "The turn ended before this call did.",
  cancelled: "Cancelled.",
  failed: "The turn failed before this call ended.",
} as const;

/**
 * Ends a turn in its transcript: open requests first, then the message and the calls that the runtime left behind, so that
 * whoever reads the records later has seen what the live clients saw. The agent is free in the moment of `turn_finished`.
 */
export async function endTurn(options: EndTurnOptions): Promise<void> {
  const { agent, turn, end } = options;
  // What the runtime left behind ends with the turn.
  if (!turn.controller.signal.aborted) turn.controller.abort("cancelled");
  await Promise.all([options.permissions.endTurn(turn.id), options.questions.endTurn(turn.id)]);
  await agent.transcript.record(
    [
      ...agent.streaming.unfinished(unfinishedText[end.outcome]),
      { type: "turn_finished", turn: turn.id, ...end },
      ...(options.after ?? []),
    ],
    {
      owe: true,
      onAnnounce: () => {
        if (agent.current === turn) agent.current = null;
      },
    },
  );
  turn.markEnded();
}

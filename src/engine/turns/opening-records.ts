import type { AgentEventBody } from "../../protocol/events.ts";
import type { Turn } from "../agents/live-agent.ts";
import { turnStarted } from "./recover-agent.ts";

/** The first records of a turn. */
export function openingRecords(turn: Turn): AgentEventBody[] {
  const started = turnStarted(turn.id, turn.requestId);
  if (turn.kind === "compact") return [started];
  const attachments = turn.input.attachments.map((label) => ({ ...label }));
  return [started, { type: "user_message", turn: turn.id, text: turn.text, attachments, by: turn.by }];
}

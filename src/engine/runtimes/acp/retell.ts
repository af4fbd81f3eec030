import type { AgentEvent } from "../../../protocol/events.ts";
import { acpLimits } from "./acp-limits.ts";

const eachChars = 4_000;

/**
 * What was said so far, for an agent that begins with an empty memory: its newest part, as text. Null where nothing was.
 *
 * @param turn the turn that begins now, whose own prompt is left out
 */
export function retell(records: readonly AgentEvent[], turn: string): string | null {
  const lines = records.flatMap((record): string[] => {
    if (record.type === "compacted") return [`Summary of what came before: ${shorten(record.summary)}`];
    if (record.type === "user_message" && record.turn !== turn) return [`User: ${shorten(record.text)}`];
    if (record.type === "assistant_message" && record.message.text !== "")
      return [`You: ${shorten(record.message.text)}`];
    return [];
  });
  const kept: string[] = [];
  let left: number = acpLimits.retoldChars;
  for (const line of lines.reverse()) {
    left -= line.length;
    if (left < 0) break;
    kept.unshift(line);
  }
  if (kept.length === 0) return null;
  return `This conversation began in an earlier session that could not be opened again. What was said so far:\n\n${kept.join("\n\n")}\n\nIt goes on with the next message.`;
}

function shorten(text: string): string {
  return text.length <= eachChars ? text : `${text.slice(0, eachChars)} […]`;
}

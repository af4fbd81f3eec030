import type { AgentEvent } from "../protocol/events.ts";

/** The last thing that an agent said in a turn, as one line without markup; null when it said nothing. */
export function lastTextOf(records: readonly AgentEvent[], turn: string): string | null {
  const end = records.findLastIndex((record) => record.type === "turn_finished" && record.turn === turn);
  for (let at = end; at >= 0; at--) {
    const record = records[at];
    if (record?.type === "turn_started") return null;
    if (record?.type !== "assistant_message") continue;
    const line = record.message.text
      .split("\n")
      .map((each) => each.replace(/^[#>*\-\s`]+|[*`]+/g, "").trim())
      .find((each) => each !== "");
    if (line !== undefined) return line;
  }
  return null;
}

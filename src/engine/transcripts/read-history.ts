import { walkJsonlBackwards } from "../../lib/jsonl-read.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { engineLimits } from "../engine-limits.ts";
import { isEvent } from "./is-event.ts";
import { transcriptPath } from "./transcript.ts";

/**
 * What an agent goes on from: the records behind the last `cleared`, or its last compaction, that one first; else all. Oldest first. Of a
 * longer conversation than the bounds the newest part.
 */
export async function readHistory(sessionsFolder: string, agent: string): Promise<readonly AgentEvent[]> {
  const records: AgentEvent[] = [];
  await walkJsonlBackwards(
    transcriptPath(sessionsFolder, agent),
    { maxLineBytes: engineLimits.transcriptLineBytes, maxScanBytes: engineLimits.historyBytes },
    (record) => {
      if (!isEvent(record)) return "go_on";
      if (record.type === "cleared") return "stop";
      // `isEvent` looked at it; a type that we do not know is the runtime's to ignore.
      records.push(record as unknown as AgentEvent);
      const full = records.length >= engineLimits.historyRecords;
      return record.type === "compacted" || full ? "stop" : "go_on";
    },
  );
  return records.reverse();
}

import { SallyportError } from "../../errors.ts";
import { isId } from "../../lib/ids.ts";
import { readJsonlPage } from "../../lib/jsonl-read.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { orRefuse } from "../disk-refusal.ts";
import type { SessionPage } from "../engine.ts";
import { engineLimits } from "../engine-limits.ts";
import { noSession } from "../not-found.ts";
import type { Announcer } from "./announcer.ts";
import { isEvent } from "./is-event.ts";
import type { Streaming } from "./streaming.ts";
import { transcriptPath } from "./transcript.ts";

export interface ReadSessionOptions {
  readonly sessionsFolder: string;
  readonly announcer: Announcer;
  readonly agent: string;
  /** True when the agent is on a tab: then it exists even without a record. */
  readonly isKnown: boolean;
  /** Null for an agent that was not touched since the daemon started. */
  readonly streaming: Streaming | null;
  readonly before: number | undefined;
  readonly limit: number | undefined;
}

/**
 * Refuses what is no id before it can reach a path. Throws `not_found`.
 *
 * @param field as the caller's request calls it; none where it is part of the path
 */
export function checkSessionId(rawId: string, field?: "session"): void {
  if (!isId(rawId)) throw noSession(field);
}

/**
 * One page of a transcript, backwards from `before` (a byte offset that an earlier page gave) or from its end, together
 * with what the open turn has said so far: every event of the agent up to `seq` is in one of the two, none in both.
 * Throws `not_found`, `invalid_field`, `disk_full` where something else is in the transcript's place.
 */
export async function readSession(options: ReadSessionOptions): Promise<SessionPage> {
  checkSessionId(options.agent);
  const { before, limit = engineLimits.sessionPageDefaultRecords } = options;
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new SallyportError("invalid_field", "limit must be a positive whole number.", { field: "limit" });
  if (before !== undefined && (!Number.isSafeInteger(before) || before < 0))
    throw new SallyportError("invalid_field", "before must be an offset that an earlier page gave.", {
      field: "before",
    });
  // Both are taken in the same moment; records that are written later have a greater seq and are left out.
  const seq = options.announcer.announcedSeq;
  const streaming = before === undefined ? (options.streaming?.view() ?? null) : null;
  const page = await orRefuse(
    readJsonlPage({
      path: transcriptPath(options.sessionsFolder, options.agent),
      ...(before === undefined ? {} : { before }),
      maxRecords: Math.min(limit, engineLimits.sessionPageRecords),
      maxBytes: engineLimits.sessionPageBytes,
      maxLineBytes: engineLimits.transcriptLineBytes,
      maxScanBytes: engineLimits.transcriptScanBytes,
      valid: isEvent,
      wanted: (record) => typeof record.seq === "number" && record.seq <= seq,
    }),
  );
  if (!page && !options.isKnown) throw noSession();
  return {
    // `isEvent` looked at them; a type that we do not know is the client's to ignore.
    records: (page?.records ?? []) as unknown as readonly AgentEvent[],
    before: page?.before ?? null,
    seq,
    streaming,
    damaged_records: page?.damaged ?? 0,
  };
}

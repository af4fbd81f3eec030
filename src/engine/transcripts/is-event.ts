import type { TSchema } from "typebox";
import { type Checker, createChecker } from "../../lib/checker.ts";
import type { JsonRecord } from "../../lib/jsonl-read.ts";
import { agentEventBodies } from "../../protocol/events.ts";

const bodies: ReadonlyMap<string, Checker<TSchema>> = new Map(
  Object.entries<TSchema>(agentEventBodies).map(([type, schema]) => [type, createChecker(schema)]),
);

/**
 * True for a record of a transcript that is an event: with the envelope of one, and of a type that we know with that type's
 * fields, so that no reader stumbles over a line that somebody damaged. A type that we do not know is the reader's to
 * ignore.
 */
export function isEvent(record: JsonRecord): boolean {
  return (
    typeof record.type === "string" &&
    typeof record.agent === "string" &&
    typeof record.at === "string" &&
    Number.isSafeInteger(record.seq) &&
    (bodies.get(record.type)?.check(record) ?? true)
  );
}

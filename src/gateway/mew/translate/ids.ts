import { createHash } from "node:crypto";
import { readUuid, ulidOf } from "../../../protocol/mew/ids.ts";

/**
 * Ids that the engine has no word for: parts, and messages made of a single call. Each follows from what it belongs to,
 * so that a part has the same id live, in the history, and after a restart.
 */
export type DerivedKind = "message" | "text" | "reasoning" | "call" | "file" | "compaction";

const timeHexDigits = 12;

/**
 * A ULID made of `kind` and `of`. Its time is that of `agent` (a UUIDv7), or of `from` where that is one.
 *
 * @param of what the part belongs to, unique with its kind within the agent
 */
export function derivedId(kind: DerivedKind, agent: string, of: string, from: string = of): string {
  const time = (readUuid(from) ?? agent).replaceAll("-", "").slice(0, timeHexDigits);
  const hash = createHash("sha256")
    .update(JSON.stringify([kind, agent, of]))
    .digest("hex");
  const hex = time + hash.slice(0, 32 - timeHexDigits);
  return ulidOf(hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"));
}

/** The id of a message or turn of the engine: the same bits where it is a UUID, else derived. */
export function messageIdOf(agent: string, rawId: string): string {
  const uuid = readUuid(rawId);
  return uuid === null ? derivedId("message", agent, rawId) : ulidOf(uuid);
}

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "typebox";
import { writeFileAtomic } from "../../../lib/atomic-file.ts";
import { createChecker } from "../../../lib/checker.ts";
import { readSecretFile } from "../../../lib/secret-file.ts";
import { orRefuse } from "../../disk-refusal.ts";

/** Which session of its own program an agent goes on with: `sessions/<agent>.acp.json`, beside the transcript. */
const SessionRecordSchema = Type.Object({
  version: Type.Literal(1),
  runtime: Type.String(),
  /** The agent's own id of the session. */
  session: Type.String({ minLength: 1, maxLength: 4_096 }),
  cwd: Type.String(),
});
export type SessionRecord = Static<typeof SessionRecordSchema>;
const schema = createChecker(SessionRecordSchema);
const maxBytes = 64 * 1024;

/** Null where there is none that can be used: then a new session begins. */
export async function readSessionRecord(
  sessionsFolder: string,
  agent: string,
  report: (problem: string) => void,
): Promise<SessionRecord | null> {
  const path = acpSessionPath(sessionsFolder, agent);
  const file = await readSecretFile(path, maxBytes);
  if (!file.ok) {
    if (file.problem !== "missing") report(`${path}: ${file.detail}`);
    return null;
  }
  try {
    const value: unknown = JSON.parse(file.text);
    if (schema.check(value)) return value;
  } catch {
    // Told below: what is no JSON is no record either.
  }
  report(`${path} is not the record of a session`);
  return null;
}

/** Throws `disk_full`. */
export async function writeSessionRecord(
  sessionsFolder: string,
  agent: string,
  record: SessionRecord,
): Promise<void> {
  await orRefuse(writeFileAtomic(acpSessionPath(sessionsFolder, agent), JSON.stringify(record)));
}

/** Removes it; one that is gone already is fine. Throws `disk_full`. */
export async function removeSessionRecord(sessionsFolder: string, agent: string): Promise<void> {
  await orRefuse(rm(acpSessionPath(sessionsFolder, agent), { force: true }));
}

/** The id was checked: nothing else than a UUID reaches a path. */
function acpSessionPath(sessionsFolder: string, agent: string): string {
  return join(sessionsFolder, `${agent}.acp.json`);
}

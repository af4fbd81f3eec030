import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "typebox";
import { writeFileAtomic } from "../../lib/atomic-file.ts";
import { createChecker } from "../../lib/checker.ts";
import { readSecretFile } from "../../lib/secret-file.ts";
import { BySchema } from "../../protocol/objects.ts";
import { orRefuse } from "../disk-refusal.ts";
import { engineLimits } from "../engine-limits.ts";

/**
 * The prompt that is reserved as an agent's next turn, in `sessions/<agent>.next.json` until the turn begins: it was
 * accepted, so a crash must not lose it, and its records cannot stand in the transcript before the running turn's end.
 */
const ReservedPromptSchema = Type.Object({
  version: Type.Literal(1),
  turn: Type.String(),
  request_id: Type.Union([Type.String(), Type.Null()]),
  text: Type.String(),
  attachments: Type.Optional(Type.Array(Type.Object({ name: Type.String(), kind: Type.String() }))),
  by: BySchema,
  /** Last event number when it was reserved: the turn's records have greater ones. */
  seq: Type.Number(),
});
export type ReservedPrompt = Static<typeof ReservedPromptSchema>;
const schema = createChecker(ReservedPromptSchema);

/** Throws `disk_full`. */
export async function writeReservedPrompt(
  sessionsFolder: string,
  agent: string,
  prompt: ReservedPrompt,
): Promise<void> {
  await orRefuse(writeFileAtomic(pathOf(sessionsFolder, agent), JSON.stringify(prompt)));
}

/** Null where there is none; in a phrase what is wrong with one that cannot be used. */
export async function readReservedPrompt(
  sessionsFolder: string,
  agent: string,
): Promise<ReservedPrompt | string | null> {
  const path = pathOf(sessionsFolder, agent);
  const file = await readSecretFile(path, engineLimits.transcriptLineBytes);
  if (!file.ok) return file.problem === "missing" ? null : `${path}: ${file.detail}`;
  try {
    const value: unknown = JSON.parse(file.text);
    return schema.check(value) ? value : `${path} is not a reserved prompt`;
  } catch {
    return `${path} is not JSON`;
  }
}

/** Removes it; one that is gone already is fine. */
export async function removeReservedPrompt(sessionsFolder: string, agent: string): Promise<void> {
  await unlink(pathOf(sessionsFolder, agent)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

function pathOf(sessionsFolder: string, agent: string): string {
  return join(sessionsFolder, `${agent}.next.json`);
}

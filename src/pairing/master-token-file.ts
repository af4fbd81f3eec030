import { lstatSync, type Stats } from "node:fs";
import { newMasterToken, parseMasterTokenFile } from "../auth/master-token.ts";
import { createSecretFile } from "../lib/create-secret-file.ts";
import { readSecretFile } from "../lib/secret-file.ts";
import { damagedFile, unusableFile } from "./start-error.ts";

export const maxMasterTokenFileBytes = 4_096;

/** Tells one file at a path from another; a new file has another inode or time. */
export interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
}

/** What is at `path` now, without following a link. Null: nothing, and only then; other failures throw. */
export function identify(path: string): FileIdentity | null {
  const stat: Stats | undefined = lstatSync(path, { throwIfNoEntry: false });
  return stat ? { dev: stat.dev, ino: stat.ino, size: stat.size, mtimeMs: stat.mtimeMs } : null;
}

export function sameFile(a: FileIdentity | null, b: FileIdentity | null): boolean {
  if (!a || !b) return a === b;
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs;
}

export type MasterTokenRead =
  | { readonly ok: true; readonly token: string; readonly identity: FileIdentity }
  | { readonly ok: false; readonly missing: boolean; readonly error: Error };

/** Reads `daemon.token`. The identity is taken first, so that a change while it is read shows as a change afterwards. */
export async function readMasterToken(path: string): Promise<MasterTokenRead> {
  const identity = identify(path);
  const read = await readSecretFile(path, maxMasterTokenFileBytes);
  if (!read.ok) {
    const missing = read.problem === "missing";
    const error =
      read.problem === "missing" ? new Error(read.detail) : unusableFile(path, read.problem, read.detail);
    return { ok: false, missing, error };
  }
  // It came between the two looks: the next one will see all of it.
  if (!identity) return { ok: false, missing: true, error: new Error("no such file") };
  const token = parseMasterTokenFile(read.text);
  if (token === null) {
    const step = "Delete it, and a new master token is made.";
    return { ok: false, missing: false, error: damagedFile(path, "it holds no master token", step) };
  }
  return { ok: true, token, identity };
}

/**
 * The master token of this home: read, or made where there is none.
 *
 * @throws SallyportError naming the file when it is there and cannot be used
 */
export async function loadMasterToken(path: string): Promise<{ token: string; identity: FileIdentity }> {
  const read = await readMasterToken(path);
  if (read.ok) return read;
  if (!read.missing) throw read.error;
  const token = newMasterToken();
  await createSecretFile(path, `${token}\n`);
  const made = await readMasterToken(path);
  if (!made.ok) throw made.error;
  return made;
}

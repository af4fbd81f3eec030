import { isRecord } from "../../client/answer-error.ts";
import { readBase } from "../../client/base-address.ts";
import { type FileFormat, migrateText } from "../../lib/migrate.ts";

/** A daemon elsewhere that this machine is paired with. */
export interface KnownRemote {
  readonly name: string;
  readonly base: string;
  /** The device token; it is sent to `base` and nowhere else. */
  readonly token: string;
  /** This machine's device id there. */
  readonly device: string;
  /** RFC 3339, UTC. */
  readonly added: string;
}

/** The format of `remotes.json`, and how older ones become it. */
const remotesFormat: FileFormat = { version: 1, migrations: [] };

export type ParsedRemotes =
  | { readonly ok: true; readonly remotes: readonly KnownRemote[] }
  | { readonly ok: false; readonly problem: string };

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** True for a name that can stand after `-C` and in a message as it is. */
export function isRemoteName(raw: string): boolean {
  return namePattern.test(raw);
}

/** Reads the file's text. One entry that cannot be used makes the whole file damaged: a token must not follow a wrong address. */
export function parseRemotes(text: string): ParsedRemotes {
  const found = migrateText(text, remotesFormat);
  if (!found.ok) return found;
  const raw = found.value.remotes;
  if (!Array.isArray(raw)) return { ok: false, problem: "it has no list of remotes" };
  const remotes: KnownRemote[] = [];
  for (const entry of raw) {
    const remote = parseRemote(entry);
    if (remote === null || remotes.some(({ name }) => name === remote.name))
      return { ok: false, problem: `its entry ${remotes.length + 1} is damaged` };
    remotes.push(remote);
  }
  return { ok: true, remotes };
}

export function formatRemotes(remotes: readonly KnownRemote[]): string {
  return `${JSON.stringify({ version: remotesFormat.version, remotes }, null, 2)}\n`;
}

function parseRemote(raw: unknown): KnownRemote | null {
  if (!isRecord(raw)) return null;
  const { name, base, token, device, added } = raw;
  if (typeof name !== "string" || !isRemoteName(name) || typeof base !== "string") return null;
  const address = readBase(base);
  if (!address.ok || address.base !== base) return null;
  // RFC 6750: what may stand after `Bearer`. Anything else could write headers of its own.
  if (typeof token !== "string" || !/^[A-Za-z0-9._~+/=-]{1,1024}$/.test(token)) return null;
  if (typeof device !== "string" || typeof added !== "string") return null;
  return { name, base, token, device, added };
}

/**
 * Ids of the mew dialect. The same 128 bits are a UUID in the engine and 26 characters of Crockford base32 (a ULID) on
 * the wire; a session's carries the prefix `sess_`. Read is any of the three forms, in any letter case.
 */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ulidPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const prefix = "sess_";
/** The 128 bits in three pieces that a number holds exactly: so many digits of a UUID are so many letters of a ULID. */
const pieces = [
  { hexFrom: 0, hexTo: 12, from: 0, to: 10 },
  { hexFrom: 12, hexTo: 22, from: 10, to: 18 },
  { hexFrom: 22, hexTo: 32, from: 18, to: 26 },
] as const;

/** The ULID of a UUID in lower case. Throws TypeError for anything else: the engine's ids are never wrong. */
export function ulidOf(uuid: string): string {
  if (!uuidPattern.test(uuid)) throw new TypeError("this is no UUID");
  const hex = uuid.replaceAll("-", "");
  let ulid = "";
  for (const { hexFrom, hexTo, from, to } of pieces)
    ulid += letters(Number.parseInt(hex.slice(hexFrom, hexTo), 16), to - from);
  return ulid;
}

/** The session id of an agent. Throws TypeError. */
export function sessionIdOf(agentId: string): string {
  return prefix + ulidOf(agentId);
}

/** The UUID that a client means by a ULID, a UUID or a session id; null for anything else. */
export function readUuid(rawId: string): string | null {
  if (rawId.length > 64) return null;
  const bare = rawId.startsWith(prefix) ? rawId.slice(prefix.length) : rawId;
  const lower = bare.toLowerCase();
  if (uuidPattern.test(lower)) return lower;
  const upper = bare.toUpperCase();
  if (!ulidPattern.test(upper)) return null;
  let hex = "";
  for (const { hexFrom, hexTo, from, to } of pieces) {
    let bits = 0;
    for (let at = from; at < to; at += 1) bits = bits * 32 + alphabet.indexOf(upper.charAt(at));
    hex += bits.toString(16).padStart(hexTo - hexFrom, "0");
  }
  return [0, 8, 12, 16, 20].map((from, at, starts) => hex.slice(from, starts[at + 1] ?? 32)).join("-");
}

function letters(bits: number, count: number): string {
  let rest = bits;
  let text = "";
  for (let at = 0; at < count; at += 1) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/**
 * Ids of the mew dialect. The same 128 bits are a UUID in the engine and 26 characters of Crockford base32 (a ULID) on
 * the wire; a session's carries the prefix `sess_`. Read is any of the three forms, in any letter case.
 */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ulidPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const prefix = "sess_";
const ulidChars = 26;

/** The ULID of a UUID in lower case. Throws TypeError for anything else: the engine's ids are never wrong. */
export function ulidOf(uuid: string): string {
  if (!uuidPattern.test(uuid)) throw new TypeError("this is no UUID");
  return encode(BigInt(`0x${uuid.replaceAll("-", "")}`));
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
  let bits = 0n;
  for (const letter of upper) bits = bits * 32n + BigInt(alphabet.indexOf(letter));
  const hex = bits.toString(16).padStart(32, "0");
  return [0, 8, 12, 16, 20].map((from, at, starts) => hex.slice(from, starts[at + 1] ?? 32)).join("-");
}

function encode(bits: bigint): string {
  let rest = bits;
  let text = "";
  for (let at = 0; at < ulidChars; at += 1) {
    text = (alphabet[Number(rest % 32n)] ?? "") + text;
    rest /= 32n;
  }
  return text;
}

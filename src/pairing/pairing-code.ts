import { randomBytes } from "node:crypto";

/** Crockford's base32: no I, L, O and U. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const codeChars = 10;
/** Longer than any way to write ten characters with separators between them. */
const maxRawChars = 64;
const separators = /[\s\p{Pd}]/gu;
const lookAlikes: Readonly<Record<string, string>> = { O: "0", I: "1", L: "1" };

/** A new code of 50 random bits, without its hyphen. */
export function newPairingCode(): string {
  // 256 is a multiple of 32: the low five bits of a random byte are uniform.
  return [...randomBytes(codeChars)].map((byte) => alphabet.charAt(byte & 31)).join("");
}

/** As people see it: `ABCDE-FGHJK`. */
export function formatPairingCode(code: string): string {
  return `${code.slice(0, 5)}-${code.slice(5)}`;
}

/**
 * Reads a code as people type it: any case, hyphens and spaces anywhere, O for 0, I and L for 1. Null when it cannot be
 * one.
 */
export function parsePairingCode(rawCode: string): string | null {
  if (rawCode.length > maxRawChars) return null;
  const bare = rawCode.replace(separators, "");
  if (!/^[0-9A-Za-z]{10}$/.test(bare)) return null;
  const code = [...bare.toUpperCase()].map((char) => lookAlikes[char] ?? char).join("");
  return [...code].every((char) => alphabet.includes(char)) ? code : null;
}

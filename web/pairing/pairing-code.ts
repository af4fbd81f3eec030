const codeChars = 10;
const alphabet = /^[0-9A-HJKMNP-TV-Z]+$/;

export type ReadCode =
  | { readonly ok: true; readonly code: string }
  | { readonly ok: false; readonly hint: string };

/**
 * Reads what a person typed or pasted as a pairing code: any case, with or without blanks and hyphens, O for 0, I and L
 * for 1, or the whole pairing link. The hint says what to correct; the daemon judges the code.
 */
export function readPairingCode(raw: string): ReadCode {
  const fragment = /#pair=([^&\s]*)/.exec(raw)?.[1];
  const folded = (fragment ?? raw)
    .normalize("NFKC")
    .toUpperCase()
    .replace(/[\s\p{Pd}_.\u200b]/gu, "")
    .replace(/O/g, "0")
    .replace(/[IL]/g, "1");
  if (folded === "") return { ok: false, hint: "Type the ten characters of a pairing code." };
  if (folded.includes("U")) return { ok: false, hint: "A code never holds the letter U. Could it be a V?" };
  if (!alphabet.test(folded)) return { ok: false, hint: "A code holds letters and digits only." };
  if (folded.length !== codeChars)
    return { ok: false, hint: `A code has ten characters; these are ${folded.length}.` };
  return { ok: true, code: folded };
}

/** `ABCDEFGHJK` as `ABCDE-FGHJK`, the way it is shown everywhere. */
export function showPairingCode(code: string): string {
  return `${code.slice(0, 5)}-${code.slice(5)}`;
}

/** A word of a command line after quote removal. In a rule's pattern an unquoted `*` is a wildcard, `null` here. */
export type WordPiece = string | null;

export interface ScannedWord {
  readonly pieces: readonly WordPiece[];
  readonly end: number;
}

/** What a word may hold outside quotes: characters that no POSIX shell gives a meaning to, wherever they stand. */
const bareCharacter = /[A-Za-z0-9_@%+=:,./-]/;
const printableAscii = /[ -~]/;
const escapedInDoubleQuotes = /[\\"$`]/;

/**
 * Reads one literal word from `start`: bare safe characters, backslash escapes, single and double quotes (POSIX, XCU 2.2).
 * It is a second opinion beside the parser: it accepts only spellings that every sh reads alike, and returns null for
 * anything that expands, continues a line or is not closed. `stars` lets unquoted `*` through as a wildcard.
 */
export function scanWord(source: string, start: number, stars = false): ScannedWord | null {
  const pieces: WordPiece[] = [];
  let text = "";
  let seen = false;
  let at = start;
  while (at < source.length) {
    const character = source.charAt(at);
    if (bareCharacter.test(character)) {
      text += character;
      at += 1;
    } else if (character === "\\") {
      const next = source.charAt(at + 1);
      if (!printableAscii.test(next)) return null;
      text += next;
      at += 2;
    } else if (character === "'") {
      const close = source.indexOf("'", at + 1);
      if (close < 0) return null;
      text += source.slice(at + 1, close);
      at = close + 1;
    } else if (character === '"') {
      const quoted = scanDoubleQuoted(source, at + 1);
      if (!quoted) return null;
      text += quoted.text;
      at = quoted.end;
    } else if (character === "*" && stars) {
      if (text !== "") pieces.push(text);
      pieces.push(null);
      text = "";
      at += 1;
    } else break;
    seen = true;
  }
  if (!seen) return null;
  if (text !== "" || pieces.length === 0) pieces.push(text);
  return { pieces, end: at };
}

function scanDoubleQuoted(source: string, start: number): { text: string; end: number } | null {
  let text = "";
  let at = start;
  while (at < source.length) {
    const character = source.charAt(at);
    if (character === '"') return { text, end: at + 1 };
    if (character === "$" || character === "`") return null;
    if (character === "\\") {
      const next = source.charAt(at + 1);
      if (!printableAscii.test(next)) return null;
      // XCU 2.2.3: before any other character the backslash stays.
      text += escapedInDoubleQuotes.test(next) ? next : `\\${next}`;
      at += 2;
    } else {
      text += character;
      at += 1;
    }
  }
  return null;
}

import type { VisibleWords } from "./analyse-line.ts";
import type { PatternWord } from "./parse-rule.ts";
import type { WordPiece } from "./scan-word.ts";

/**
 * True if the words of a command match a pattern. A word that is not literal (`null`) is matched by a bare `*` only.
 * Runs in time proportional to pattern times words: a pattern is no place for an attack by backtracking.
 */
export function wordsMatch(pattern: readonly PatternWord[], words: VisibleWords): boolean {
  // reachable[i]: the pattern so far can match the first i words.
  let reachable: boolean[] = Array.from({ length: words.length + 1 }, (_, index) => index === 0);
  for (const part of pattern) {
    const next: boolean[] = new Array<boolean>(words.length + 1).fill(false);
    for (let index = 0; index <= words.length; index += 1) {
      if (part === "rest") next[index] = reachable[index] === true || (index > 0 && next[index - 1] === true);
      else if (index > 0 && reachable[index - 1]) next[index] = pieceMatch(part, words[index - 1] ?? null);
    }
    reachable = next;
  }
  return reachable[words.length] === true;
}

/** True if one word matches pieces of text with wildcards (`null`) between them; greedy from the left is enough for `*`. */
export function pieceMatch(pieces: readonly WordPiece[], word: string | null): boolean {
  if (word === null) return false;
  let at = 0;
  let floating = false;
  for (const [index, piece] of pieces.entries()) {
    if (piece === null) {
      floating = true;
      continue;
    }
    const last = index === pieces.length - 1;
    if (!floating) {
      if (!word.startsWith(piece, at)) return false;
      at += piece.length;
    } else if (last) {
      if (word.length - piece.length < at || !word.endsWith(piece)) return false;
      at = word.length;
    } else {
      const found = word.indexOf(piece, at);
      if (found < 0) return false;
      at = found + piece.length;
    }
    floating = false;
  }
  return floating || at === word.length;
}

/** The only text of a pattern word without wildcards; null otherwise. */
export function literalOf(part: PatternWord | undefined): string | null {
  if (part === undefined || part === "rest" || part.length !== 1) return null;
  return part[0] ?? null;
}

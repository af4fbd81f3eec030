import { Lexer, type Links, type Token, type TokensList } from "marked";

/** Deeper nesting is shown as the text that it is. */
const maxDepth = 16;
/** Text without a space of this length is no prose; marks in it are not looked for, which could take long. */
const maxWordChars = 1_000;
const maxInlineChars = 32 * 1024;

/** marked's lexer with bounds: on nesting, which it follows by recursion, and on what its expressions are slow with. */
class BoundedLexer extends Lexer {
  #depth = 0;

  override blockTokens(src: string, rawTokens?: Token[], lastParagraphClipped?: boolean): TokensList {
    // Only the list of the top has links; below it nobody reads them.
    const tokens = (rawTokens ?? []) as TokensList;
    if (this.#depth >= maxDepth) {
      tokens.push(plainParagraph(src));
      return tokens;
    }
    this.#depth += 1;
    try {
      return super.blockTokens(src, tokens, lastParagraphClipped) as TokensList;
    } finally {
      this.#depth -= 1;
    }
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (this.#depth >= maxDepth || src.length > maxInlineChars || hasLongWord(src)) {
      tokens.push({ type: "escape", raw: src, text: src });
      return tokens;
    }
    this.#depth += 1;
    try {
      return super.inlineTokens(src, tokens);
    } finally {
      this.#depth -= 1;
    }
  }
}

export interface LexedBlocks {
  readonly tokens: readonly Token[];
  /** Targets of reference links, by name. */
  readonly links: Links;
}

/** The blocks of GitHub's Markdown. `src` has no carriage returns. Never throws; what is too deep or odd becomes text. */
export function lexBlocks(src: string, links: Links = {}): LexedBlocks {
  const lexer = new BoundedLexer({ gfm: true });
  Object.assign(lexer.tokens.links, links);
  try {
    const tokens = lexer.lex(src);
    return { tokens: [...tokens], links: tokens.links };
  } catch {
    // The lexer gave up (its stack, or a loop that it found in itself): the text is shown as it is.
    return { tokens: [plainParagraph(src)], links };
  }
}

function plainParagraph(src: string): Token {
  return { type: "paragraph", raw: src, text: src, tokens: [{ type: "escape", raw: src, text: src }] };
}

function hasLongWord(text: string): boolean {
  let start = 0;
  while (start + maxWordChars < text.length) {
    const space = lastSpaceBefore(text, start + maxWordChars, start);
    if (space === -1) return true;
    start = space + 1;
  }
  return false;
}

function lastSpaceBefore(text: string, end: number, start: number): number {
  for (let at = end; at >= start; at -= 1) {
    const code = text.charCodeAt(at);
    if (code === 0x20 || code === 0x0a || code === 0x09) return at;
  }
  return -1;
}

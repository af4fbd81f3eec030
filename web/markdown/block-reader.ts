import type { Links, Token } from "marked";
import { lexBlocks } from "./lex.ts";

/** One block of a text; the same object as long as nothing in it changes. */
export interface Block {
  readonly token: Token;
  /** False while more text may still change it. */
  readonly isClosed: boolean;
}

/** The blocks of a text that grows. Only the open end is read again when more comes. */
export interface BlockReader {
  /** `text` is all there is so far; `isWhole` when nothing more comes. */
  read(text: string, isWhole: boolean): readonly Block[];
}

/** A longer text is no conversation; its rest is shown as it is. */
export const maxMarkdownChars = 64 * 1024;

export function createBlockReader(): BlockReader {
  let closedText = "";
  let closed: readonly Block[] = [];
  let links: Links = {};
  let last: { readonly text: string; readonly isWhole: boolean; readonly blocks: readonly Block[] } | null =
    null;

  function restart(): void {
    closedText = "";
    closed = [];
    links = {};
  }

  function readOpenEnd(text: string): readonly Block[] {
    const open = lexBlocks(text.slice(closedText.length), links);
    const count = closedCount(open.tokens);
    const tokens = open.tokens.slice(0, count);
    closed = [...closed, ...tokens.map((token) => ({ token, isClosed: true }))];
    closedText += tokens.map(({ raw }) => raw).join("");
    links = open.links;
    return [...closed, ...open.tokens.slice(count).map((token) => ({ token, isClosed: false }))];
  }

  /**
   * Once, at the end, from its beginning: a line may change a block far before it (a table's second line makes its first
   * one a head), and a name that was given later counts for links that stand before it.
   */
  function readWhole(text: string): readonly Block[] {
    const whole = lexBlocks(text, {});
    const before = Object.keys(whole.links).length === 0 ? closed : [];
    restart();
    return whole.tokens.map((token, index) => {
      const known = before[index];
      const isSame = known?.token.type === token.type && known.token.raw === token.raw;
      return isSame && known !== undefined ? known : { token, isClosed: true };
    });
  }

  return {
    read(rawText, isWhole) {
      const text = withLineFeeds(rawText.slice(0, maxMarkdownChars), isWhole);
      if (last !== null && last.text === text && last.isWhole === isWhole) return last.blocks;
      if (!text.startsWith(closedText)) restart();
      last = { text, isWhole, blocks: isWhole ? readWhole(text) : readOpenEnd(text) };
      return last.blocks;
    },
  };
}

/** What was cut off behind the bound. */
export function beyondMarkdown(text: string): string {
  return text.slice(maxMarkdownChars);
}

/**
 * How many blocks at the beginning cannot change any more: all but the last two. The last one grows, and the one before
 * it may take it in when its first line is whole (`2` becomes the second point of a list when its dot comes).
 */
function closedCount(tokens: readonly Token[]): number {
  let index = tokens.length;
  for (let left = 2; left > 0 && index > 0; index -= 1) if (tokens[index - 1]?.type !== "space") left -= 1;
  return index;
}

/** A carriage return at the end of what came so far may be half of a line end. */
function withLineFeeds(text: string, isWhole: boolean): string {
  const complete = !isWhole && text.endsWith("\r") ? text.slice(0, -1) : text;
  return complete.includes("\r") ? complete.replace(/\r\n?/g, "\n") : complete;
}

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

  return {
    read(rawText, isWhole) {
      const text = withLineFeeds(rawText.slice(0, maxMarkdownChars), isWhole);
      if (last !== null && last.text === text && last.isWhole === isWhole) return last.blocks;
      if (!text.startsWith(closedText)) restart();
      // A name that was given later counts for links that stand before it.
      if (isWhole && Object.keys(links).length > 0) restart();
      const open = lexBlocks(text.slice(closedText.length), links);
      const blocks = open.tokens.map((token) => ({ token, isClosed: isWhole }));
      if (!isWhole) {
        const count = closedCount(open.tokens);
        const newlyClosed = blocks.slice(0, count).map(({ token }) => ({ token, isClosed: true }));
        closed = [...closed, ...newlyClosed];
        closedText += open.tokens
          .slice(0, count)
          .map(({ raw }) => raw)
          .join("");
        blocks.splice(0, count);
      }
      links = open.links;
      last = { text, isWhole, blocks: [...closed, ...blocks] };
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

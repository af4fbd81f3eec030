import { useEffect, useRef, useState } from "preact/hooks";
import { blockNode } from "./block.tsx";
import { type Block, beyondMarkdown, createBlockReader } from "./block-reader.ts";
import "./markdown.css";
import { memo } from "../ui/memo.ts";
import { proseText } from "./prose-text.ts";

/** What one text shows as Markdown at most. */
const maxBlocks = 500;

const maxRestChars = 128 * 1024;

interface MarkdownProps {
  readonly text: string;
  /** True while more text comes: then only the open end is read again. */
  readonly isOpen?: boolean;
}

/**
 * A text in GitHub's Markdown as nodes of the page, never as HTML: a hostile text runs nothing, loads nothing and cannot
 * leave its place.
 */
export function Markdown({ text, isOpen = false }: MarkdownProps) {
  const shown = usePaced(text, isOpen);
  const reader = useRef<ReturnType<typeof createBlockReader> | null>(null);
  reader.current ??= createBlockReader();
  const blocks = reader.current.read(shown, !isOpen);
  const rest =
    blocks
      .slice(maxBlocks)
      .map(({ token }) => token.raw)
      .join("") + beyondMarkdown(shown);
  return (
    <div class="markdown">
      {blocks.slice(0, maxBlocks).map((block, index) => (
        // A block keeps its place: text only ever comes behind it.
        <BlockView key={index} block={block} />
      ))}
      {rest !== "" && <pre class="plain-rest">{proseText(rest.slice(0, maxRestChars))}</pre>}
      {rest.length > maxRestChars && (
        <p class="quiet-text">{rest.length - maxRestChars} more characters are not shown.</p>
      )}
    </div>
  );
}

const BlockView = memo(
  ({ block }: { readonly block: Block }) => <>{blockNode(block.token, block.isClosed)}</>,
  (before, after) => before.block === after.block,
);

/** Each update of a text beyond this waits longer, so that reading it never takes most of the time. */
const freeChars = 8 * 1024;
const charsPerMs = 64;
const maxWaitMs = 1_500;

/** The text as it was lately: a long one that grows is shown less often. */
function usePaced(text: string, isOpen: boolean): string {
  const shown = useRef({ text, atMs: 0 });
  const [, redraw] = useState(0);
  const waitMs = isOpen ? Math.min(maxWaitMs, Math.max(0, text.length - freeChars) / charsPerMs) : 0;
  const leftMs = waitMs === 0 ? 0 : shown.current.atMs + waitMs - performance.now();
  if (leftMs <= 0 || !text.startsWith(shown.current.text)) shown.current = { text, atMs: performance.now() };
  const isStale = shown.current.text !== text;
  useEffect(() => {
    if (!isStale) return;
    const timer = setTimeout(() => redraw((count) => count + 1), leftMs);
    return () => clearTimeout(timer);
  });
  return shown.current.text;
}

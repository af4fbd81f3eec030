import type { Token, Tokens } from "marked";
import { type ComponentChild, h } from "preact";
import { scrollable } from "../ui/scrollable.ts";
import { CodeBlock } from "./code-block.tsx";
import { inlineNodes } from "./inline.tsx";
import { proseText } from "./prose-text.ts";

/** A block token as nodes. HTML is shown as the text that it is. */
export function blockNode(token: Token, isClosed: boolean): ComponentChild {
  switch (token.type) {
    case "space":
    case "def":
    case "checkbox":
      return null;
    case "paragraph":
      return <p dir="auto">{inlineNodes(token.tokens)}</p>;
    case "text":
      return <p dir="auto">{textNodes(token)}</p>;
    case "heading":
      return h(
        // Below those of the page, and all of one level: with which depth an agent begins is its own affair, and an outline with
        // gaps leads a screen reader astray. The depth is seen.
        "h3",
        { dir: "auto", class: `depth-${token.depth}` },
        inlineNodes(token.tokens),
      );
    case "code":
      return <CodeBlock code={token.text} info={token.lang ?? ""} isClosed={isClosed} />;
    case "blockquote":
      return <blockquote dir="auto">{blockNodes(token.tokens, isClosed)}</blockquote>;
    case "list":
      return listNode(token as Tokens.List, isClosed);
    case "table":
      return token.header.length <= maxTableColumns ? tableNode(token as Tokens.Table) : plainNode(token.raw);
    case "hr":
      return <hr />;
    default:
      return plainNode(token.raw);
  }
}

function plainNode(text: string): ComponentChild {
  return <p dir="auto">{proseText(text)}</p>;
}

function blockNodes(tokens: readonly Token[] | undefined, isClosed: boolean): ComponentChild[] {
  return (tokens ?? []).map((token) => blockNode(token, isClosed));
}

function textNodes(token: Token): ComponentChild {
  return "tokens" in token && token.tokens !== undefined ? inlineNodes(token.tokens) : inlineNodes([token]);
}

function listNode(list: Tokens.List, isClosed: boolean): ComponentChild {
  const items = list.items.map((item) => (
    <li dir="auto" class={item.task ? "task" : undefined}>
      {item.task && taskMark(item.checked === true)}
      {item.tokens.map((token) => (isTight(token, list) ? textNodes(token) : blockNode(token, isClosed)))}
    </li>
  ));
  if (!list.ordered) return <ul>{items}</ul>;
  return <ol start={typeof list.start === "number" ? list.start : undefined}>{items}</ol>;
}

function isTight(token: Token, list: Tokens.List): boolean {
  return token.type === "text" && !list.loose;
}

/** No control: nothing can be ticked in what was said. */
function taskMark(isDone: boolean): ComponentChild {
  return (
    <span class="task-mark" role="img" aria-label={isDone ? "done" : "to do"}>
      {isDone ? "☑" : "☐"}
    </span>
  );
}

const maxTableCells = 5_000;
const maxTableColumns = 100;

function tableNode(table: Tokens.Table): ComponentChild {
  const width = Math.max(1, table.header.length);
  const rows = table.rows.slice(0, Math.floor(maxTableCells / width));
  const omitted = table.rows.length - rows.length;
  return (
    <figure class="table-scroll" aria-label="Table" {...scrollable}>
      <table>
        <thead>
          <tr>{table.header.map((cell) => cellNode("th", cell))}</tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>{row.map((cell) => cellNode("td", cell))}</tr>
          ))}
        </tbody>
      </table>
      {omitted > 0 && <p class="quiet">{omitted} more rows are not shown.</p>}
    </figure>
  );
}

function cellNode(tag: "th" | "td", cell: Tokens.TableCell): ComponentChild {
  return h(
    tag,
    {
      dir: "auto",
      class: cell.align === null ? undefined : `align-${cell.align}`,
      ...(tag === "th" && { scope: "col" }),
    },
    inlineNodes(cell.tokens),
  );
}

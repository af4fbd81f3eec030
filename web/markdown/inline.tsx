import type { Token } from "marked";
import type { ComponentChild } from "preact";
import { decodeEntities } from "./entities.ts";
import { proseText } from "./prose-text.ts";
import { hiddenTarget, safeHref } from "./safe-link.ts";

/** Inline tokens as nodes. HTML is shown as the text that it is; nothing is fetched. */
export function inlineNodes(tokens: readonly Token[] | undefined): ComponentChild[] {
  return (tokens ?? []).map(inlineNode);
}

function inlineNode(token: Token): ComponentChild {
  switch (token.type) {
    case "text":
      if (token.tokens !== undefined) return inlineNodes(token.tokens);
      return proseText(token.escaped === false ? decodeEntities(token.text) : token.text);
    case "escape":
      return proseText(token.text);
    case "strong":
      return <strong>{inlineNodes(token.tokens)}</strong>;
    case "em":
      return <em>{inlineNodes(token.tokens)}</em>;
    case "del":
      return <del>{inlineNodes(token.tokens)}</del>;
    case "codespan":
      return <code dir="ltr">{proseText(token.text)}</code>;
    case "br":
      return <br />;
    case "link":
      return linkNode(token.href, token.autolink === true, inlineNodes(token.tokens), token.text);
    case "image":
      return imageNode(token.href, token.text);
    case "checkbox":
      return null;
    default:
      return proseText(token.raw);
  }
}

function linkNode(
  rawHref: string,
  isLiteral: boolean,
  children: ComponentChild[],
  text: string,
): ComponentChild {
  const href = safeHref(isLiteral ? rawHref : decodeEntities(rawHref));
  // The path of a file, mostly: what it names is worth more than a link that leads nowhere.
  if (href === null) return <span title={proseText(rawHref)}>{children}</span>;
  const hidden = hiddenTarget(text, href);
  return (
    <>
      <a href={href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
      {hidden !== null && <span class="link-target"> ({proseText(hidden)})</span>}
    </>
  );
}

/** A picture from elsewhere is never fetched: to fetch it would tell its owner who reads this, and what. */
function imageNode(rawHref: string, text: string): ComponentChild {
  const label = proseText(decodeEntities(text)) || "picture";
  const href = safeHref(decodeEntities(rawHref));
  if (href === null) return <span>[{label}]</span>;
  const hidden = hiddenTarget(text, href);
  return (
    <>
      <a href={href} target="_blank" rel="noopener noreferrer">
        {label}
      </a>
      <span class="link-target"> ({hidden ?? new URL(href).host})</span>
    </>
  );
}

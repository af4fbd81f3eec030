import { cleanLabel } from "../visible-text.ts";

/** A command file: Markdown with front matter between two lines of `---`. */
export interface CommandFile {
  readonly description: string | null;
  readonly argumentHint: string | null;
  /** The text that `/name` stands for. */
  readonly body: string;
}

const labelChars = 200;
/** Front matter is at the very beginning, or there is none. */
const frontMatter = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m;

/**
 * Reads a command file leniently: of the front matter the keys `description` and `argument-hint` as plain or quoted
 * scalars of one line, nothing else of YAML. Without a description the first line of the text stands for it.
 */
export function parseCommandFile(text: string): CommandFile {
  const found = frontMatter.exec(text);
  const isAtStart = found?.index === 0;
  const head = isAtStart ? (found[1] ?? "") : "";
  const body = (isAtStart ? text.slice(found[0].length) : text.replace(/^\ufeff/, ""))
    .replaceAll("\r\n", "\n")
    .trim();
  const firstLine = body.split("\n", 1)[0]?.replace(/^#+\s*/, "") ?? "";
  return {
    description: scalar(head, "description") ?? labelOf(firstLine),
    argumentHint: scalar(head, "argument-hint"),
    body,
  };
}

function scalar(head: string, key: string): string | null {
  for (const line of head.split("\n")) {
    if (!line.startsWith(`${key}:`)) continue;
    const raw = line.slice(key.length + 1).trim();
    const quoted = /^"(.*)"$|^'(.*)'$/.exec(raw);
    return labelOf(quoted ? (quoted[1] ?? quoted[2] ?? "") : raw);
  }
  return null;
}

function labelOf(raw: string): string | null {
  return cleanLabel(raw.slice(0, 4 * labelChars), labelChars) || null;
}

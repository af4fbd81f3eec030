import { SallyportError } from "../../errors.ts";
import { analyseLine } from "./analyse-line.ts";
import { parsePathPattern } from "./match-path.ts";
import { scanWord, type WordPiece } from "./scan-word.ts";

/** A word of a pattern; `rest` is a bare `*`: any number of words, none included. */
export type PatternWord = "rest" | readonly WordPiece[];

export type Rule =
  | {
      readonly tool: "bash";
      readonly text: string;
      readonly kind: "words";
      readonly words: readonly PatternWord[];
    }
  /** More than one command: the line itself, compared as text. */
  | { readonly tool: "bash"; readonly text: string; readonly kind: "line"; readonly line: string }
  | {
      readonly tool: "edit";
      readonly text: string;
      readonly kind: "path";
      readonly pattern: readonly string[];
    };

export type CommandRule = Extract<Rule, { tool: "bash" }>;
export type PathRule = Extract<Rule, { tool: "edit" }>;

const maxRuleChars = 8_192;
const shape = /^(bash|edit)\((.*)\)$/s;

/**
 * Parses a rule.
 *
 * - `bash(git status)`: exactly these words, after quote removal. `bash(wc *)`: a bare `*` stands for any number of words;
 *   inside a word `*` stands for any characters. Quote a star that is meant: `bash(grep '*' notes)`.
 * - `bash(make && make install)`: exactly this line.
 * - `edit(src/**)`: paths relative to the tab's folder, or absolute; `*` and `?` stay in a segment, `**` crosses them.
 *
 * @throws SallyportError invalid_field, with a message that says what to write instead
 */
export function parseRule(rawRule: string): Rule {
  const match = rawRule.length <= maxRuleChars ? shape.exec(rawRule) : null;
  const pattern = match?.[2]?.trim();
  if (!match || !pattern)
    throw refuse(
      rawRule,
      "write it as bash(COMMAND) or edit(PATH), for example bash(git status), bash(wc *), edit(src/**)",
    );
  if (match[1] === "edit")
    return { tool: "edit", text: rawRule, kind: "path", pattern: readPath(rawRule, pattern) };
  const words = readWords(pattern);
  if (words) return { tool: "bash", text: rawRule, kind: "words", words };
  const analysis = analyseLine(pattern);
  if (analysis.kind === "plain" && analysis.commands.length > 1)
    return { tool: "bash", text: rawRule, kind: "line", line: pattern };
  const reason = analysis.kind === "opaque" ? analysis.reason : "its words cannot be read";
  throw refuse(rawRule, `${reason}; a rule holds literal words and *, quote any other special character`);
}

function readWords(pattern: string): PatternWord[] | null {
  const words: PatternWord[] = [];
  for (let at = 0; at < pattern.length; ) {
    if (pattern.charAt(at) === " ") {
      at += 1;
      continue;
    }
    const word = scanWord(pattern, at, true);
    if (!word || (word.end < pattern.length && pattern.charAt(word.end) !== " ")) return null;
    words.push(pattern.slice(at, word.end) === "*" ? "rest" : word.pieces);
    at = word.end;
  }
  return words;
}

function readPath(rawRule: string, pattern: string): readonly string[] {
  const segments = parsePathPattern(pattern);
  if (segments) return segments;
  throw refuse(
    rawRule,
    "a path pattern is relative to the tab's folder or absolute, without `..`, `~` or empty segments",
  );
}

function refuse(rawRule: string, advice: string): SallyportError {
  return new SallyportError(
    "invalid_field",
    `The rule ${JSON.stringify(rawRule.slice(0, 200))} is not valid: ${advice}.`,
    {
      field: "rules",
    },
  );
}

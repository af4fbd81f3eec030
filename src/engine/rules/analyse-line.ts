import {
  type Command,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirection,
  type SyntaxNode,
} from "unbash";
import { changesTheShell, reservedWords } from "./program-lists.ts";
import { scanWord } from "./scan-word.ts";

/** Words of one simple command after quote removal; `null` where a word is not literal. */
export type VisibleWords = readonly (string | null)[];

export type LineAnalysis =
  | {
      readonly kind: "plain";
      /** One argv per simple command, in order. */
      readonly commands: readonly (readonly string[])[];
      /** True if a builtin (alias, eval, export…) may change what the other words of the line mean. */
      readonly changesShell: boolean;
    }
  | {
      readonly kind: "opaque";
      readonly reason: string;
      /** Commands that can be seen in it all the same: enough to deny, never enough to allow. */
      readonly visible: readonly VisibleWords[];
    };

/** A longer line is not analysed: it asks. The parser is synchronous, so its input is bounded instead of its time. */
const maxLineChars = 16 * 1024;
const maxVisibleCommands = 1_000;
const maxVisibleDepth = 64;

// Other than printable text: controls but the newline, format and private characters, lone surrogates, exotic blanks.
const unprintable = /[^\P{C}\n]|[^\P{Z} ]/u;
// In a multi-byte locale that is not UTF-8 the last byte of a character may swallow a backslash after it.
const swallowedBackslash = /[^\x00-\x7f]\\/;

const betweenWords = /^ +$/;
const betweenCommands = /^ *(?:(?:&&|\|\||\|&?|[;&])[ \n]*|\n[ \n]*)$/;
const beforeFirst = /^[ \n]*$/;
const afterLast = /^ *[;&]?[ \n]*$/;
const nullRedirect = /^[0-9]?(?:<|>|>>) *\/dev\/null$/;
const descriptorRedirect = /^[0-9]?[<>]&(?:[0-9]|-)$/;

interface Token {
  readonly pos: number;
  readonly end: number;
  readonly text: string | null;
  readonly raw: string;
}

/**
 * Reads a command line as `/bin/sh` will. `plain` only if it wholly consists of simple commands of literal words joined
 * by `&& || ; | & |&` or newlines, with redirections to /dev/null or between descriptors at most. The parser finds the
 * structure; then each word is read again by `scanWord` and each gap between words must hold blanks and one operator, so
 * that a line on which the parser and a shell (dash, bash) could disagree is `opaque`. Never throws.
 */
export function analyseLine(line: string): LineAnalysis {
  if (line.length > maxLineChars) return opaque("the line is too long to analyse", []);
  let script: ParsedScript;
  try {
    script = parse(line);
  } catch {
    // A parser that fails has not understood the line; that is all we need to know.
    return opaque("the line cannot be parsed", []);
  }
  const visible = visibleCommands(script);
  if (unprintable.test(line) || swallowedBackslash.test(line))
    return opaque("it holds a control or invisible character", visible);
  if (script.errors && script.errors.length > 0) return opaque("it is not valid shell syntax", visible);
  const simple = simpleCommands(script);
  if (!simple) return opaque("it is more than simple commands", visible);
  if (simple.length === 0) return opaque("it holds no command", visible);
  const commands: string[][] = [];
  let end = 0;
  for (const command of simple) {
    const tokens = readTokens(line, command);
    if (!tokens) return opaque("it holds an expansion, assignment or redirection", visible);
    const first = tokens[0];
    if (!first || !(end === 0 ? beforeFirst : betweenCommands).test(line.slice(end, first.pos)))
      return opaque("its commands are joined in an unusual way", visible);
    const words = tokens.flatMap((token) => (token.text === null ? [] : [token.text]));
    if (!isProgramWord(first) || words[0] === undefined || words[0] === "")
      return opaque("a command does not begin with a program", visible);
    commands.push(words);
    end = tokens.at(-1)?.end ?? end;
  }
  if (!afterLast.test(line.slice(end))) return opaque("something follows the last command", visible);
  return { kind: "plain", commands, changesShell: commands.some(changesTheShell) };
}

function opaque(reason: string, visible: readonly VisibleWords[]): LineAnalysis {
  return { kind: "opaque", reason, visible };
}

/** The simple commands of a script without any other structure, in source order; null if there is any. */
function simpleCommands(script: ParsedScript): Command[] | null {
  const found: Command[] = [];
  const take = (node: SyntaxNode): boolean => {
    switch (node.type) {
      case "Command":
        found.push(node);
        return true;
      case "AndOr":
        return node.commands.every(take);
      case "Pipeline":
        return node.prefixes.length === 0 && node.commands.every(take);
      default:
        return false;
    }
  };
  return script.commands.every((statement) => take(statement.command)) ? found : null;
}

/** Words and redirections of a command in source order, separated by blanks only; null if one is not literal. */
function readTokens(line: string, command: Command): Token[] | null {
  if (!command.name || command.prefix.length > 0) return null;
  const tokens: Token[] = [];
  for (const node of [command.name, ...command.suffix]) {
    const previous = tokens.at(-1);
    if (previous && !betweenWords.test(line.slice(previous.end, node.pos))) return null;
    const raw = line.slice(node.pos, node.end);
    if (node.type === "Word" || node.type === "Assignment") {
      const word = scanWord(line, node.pos);
      const text = word?.pieces[0];
      if (!word || word.end !== node.end || typeof text !== "string") return null;
      tokens.push({ pos: node.pos, end: node.end, text, raw });
    } else {
      if (!harmlessRedirect(node, raw)) return null;
      tokens.push({ pos: node.pos, end: node.end, text: null, raw });
    }
  }
  return tokens;
}

function harmlessRedirect(node: Redirection, raw: string): boolean {
  return node.type === "Redirect" && (nullRedirect.test(raw) || descriptorRedirect.test(raw));
}

/** A first word that no shell takes for a keyword or an assignment. */
function isProgramWord(token: Token): boolean {
  return token.text !== null && !reservedWords.has(token.raw) && !token.raw.includes("=");
}

/** Every simple command that the parser sees, in substitutions and compound commands too. */
function visibleCommands(script: ParsedScript): VisibleWords[] {
  const found: VisibleWords[] = [];
  const visit = (node: SyntaxNode, depth: number): void => {
    if (found.length >= maxVisibleCommands || depth > maxVisibleDepth) return;
    if (node.type === "Command" && node.name)
      found.push([node.name, ...node.args].map((word) => literalText(word.text)));
    forEachChild(node, (child) => visit(child, depth + 1));
  };
  try {
    visit(script, 0);
  } catch {
    // Nested too deeply to look into: what was found so far can still deny, and the line asks anyway.
    return found;
  }
  return found;
}

function literalText(raw: string): string | null {
  const word = scanWord(raw, 0);
  return word && word.end === raw.length ? (word.pieces[0] ?? null) : null;
}

import { analyseLine, type VisibleWords } from "./analyse-line.ts";
import { literalOf, wordsMatch } from "./match-words.ts";
import type { CommandRule, PatternWord } from "./parse-rule.ts";
import { hidesWhatItRuns, programName, runsNothingElse } from "./program-lists.ts";

const maxNesting = 3;
/** With one of these in an argument, a program that hands it to a shell could run something spelled otherwise. */
const shellSyntax = /[$`\\"'*?[{\n]/;

/**
 * True if a deny rule names a command that is seen in the line: behind another path (`/bin/rm`), in other case, as an
 * argument of a program that runs its arguments (`env rm`), or in a line given to a shell (`sh -c 'rm x'`).
 */
export function isDenied(
  rule: CommandRule,
  line: string,
  commands: readonly VisibleWords[],
  nesting = 0,
): boolean {
  if (rule.kind === "line") return line.trim() === rule.line;
  return commands.some((words) => {
    if (denies(rule.words, words)) return true;
    const program = words[0];
    if (program === undefined || (program !== null && !hidesWhatItRuns(program))) return false;
    return words.slice(1).some((word, index) => {
      if (denies(rule.words, words.slice(index + 1))) return true;
      if (word === null || nesting >= maxNesting || !/\s/.test(word)) return false;
      const inner = analyseLine(word);
      return isDenied(rule, word, inner.kind === "plain" ? inner.commands : inner.visible, nesting + 1);
    });
  });
}

function denies(pattern: readonly PatternWord[], words: VisibleWords): boolean {
  if (wordsMatch(pattern, words)) return true;
  const denied = literalOf(pattern[0]);
  const program = words[0];
  if (denied === null || typeof program !== "string") return false;
  // A rule that names a path means that path; one that names a program means it wherever it is.
  const same = denied.includes("/") ? program === denied : programName(program) === denied.toLowerCase();
  return same && wordsMatch([[denied], ...pattern.slice(1)], [denied, ...words.slice(1)]);
}

/** True if a command could run something that a deny rule names, though it does not say so: then a person is asked. */
export function hidesADenied(words: readonly string[], deny: readonly CommandRule[]): boolean {
  const program = words[0] ?? "";
  if (hidesWhatItRuns(program)) return true;
  if (!runsNothingElse.has(program) && words.slice(1).some((word) => shellSyntax.test(word))) return true;
  return deny.some((rule) => rule.kind === "words" && mightMean(rule.words, words));
}

function mightMean(pattern: readonly PatternWord[], words: readonly string[]): boolean {
  const denied = literalOf(pattern[0]);
  if (denied === null) return false;
  const program = words[0] ?? "";
  const name = programName(denied);
  const rest = words.slice(1);
  if (programName(program) !== name)
    return !runsNothingElse.has(program) && rest.some((word) => namesIn(word).includes(name));
  const next = literalOf(pattern[1]);
  if (denied.includes("/")) return true;
  if (next === null) return pattern[1] !== undefined && pattern[1] !== "rest";
  // `git -C . push` for a denied `git push`; `rm x -rf` or `rm -fr x` for a denied `rm -rf`.
  if (next.startsWith("-")) return rest.some((word) => word.startsWith("-"));
  return rest[0]?.startsWith("-") === true || rest[0]?.toLowerCase() === next.toLowerCase();
}

function namesIn(word: string): string[] {
  return word.toLowerCase().split(/[^a-z0-9_.+-]+/);
}

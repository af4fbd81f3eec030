import type { Mode } from "../../protocol/objects.ts";
import { analyseLine, type LineAnalysis, type VisibleWords } from "./analyse-line.ts";
import { hidesADenied, isDenied } from "./deny-command.ts";
import { wordsMatch } from "./match-words.ts";
import { type CommandRule, parseRule } from "./parse-rule.ts";
import { hidesWhatItRuns, runsNothingElse } from "./program-lists.ts";
import type { Verdict } from "./rules.ts";

/** A longer line is not remembered for a session. */
const maxRememberedChars = 4_096;

/** Judges a command line; deny first, then what cannot be seen through, then allow rules, then the mode. */
export function judgeCommand(
  line: string,
  mode: Mode,
  allow: readonly CommandRule[],
  deny: readonly CommandRule[],
): Verdict {
  const analysis = analyseLine(line);
  const commands: readonly VisibleWords[] = analysis.kind === "plain" ? analysis.commands : analysis.visible;
  const denied = deny.find((rule) => isDenied(rule, line, commands));
  if (denied) return { verdict: "deny", by: denied.text };
  const ask: Verdict = { verdict: "ask", allowSession: rememberedAs(line, analysis) };
  if (analysis.kind === "opaque") return deny.length === 0 && mode === "autopilot" ? byMode : ask;

  const guarded = deny.length > 0;
  const exact = exactRule(line, analysis.commands, allow);
  if (exact) return { verdict: "allow", by: exact.text };
  const unclear =
    guarded && (analysis.changesShell || analysis.commands.some((words) => hidesADenied(words, deny)));
  if (unclear) return ask;
  if (!analysis.changesShell) {
    const by = analysis.commands.map((words) => allow.find((rule) => allows(rule, words))?.text);
    if (by.every((text) => text !== undefined)) return { verdict: "allow", by: [...new Set(by)].join(", ") };
  }
  return mode === "autopilot" ? byMode : ask;
}

const byMode: Verdict = { verdict: "allow", by: "autopilot" };

function allows(rule: CommandRule, words: readonly string[]): boolean {
  return rule.kind === "words" && wordsMatch(rule.words, words);
}

/** A rule without wildcards that is this very line: a person has read all of it, so nothing in it is unseen. */
function exactRule(
  line: string,
  commands: readonly (readonly string[])[],
  allow: readonly CommandRule[],
): CommandRule | undefined {
  const only = commands.length === 1 ? commands[0] : undefined;
  return allow.find((rule) =>
    rule.kind === "line"
      ? rule.line === line.trim()
      : only !== undefined && !hasWildcard(rule) && wordsMatch(rule.words, only),
  );
}

function hasWildcard(rule: Extract<CommandRule, { kind: "words" }>): boolean {
  return rule.words.some((word) => word === "rest" || word.includes(null));
}

/**
 * What `allow_session` would remember: `bash(wc *)` for a program that runs nothing else, otherwise the exact line; null
 * for a line that no rule can allow. What is offered is checked to be a rule that means this line.
 */
function rememberedAs(line: string, analysis: LineAnalysis): string | null {
  if (analysis.kind === "opaque") return null;
  const trimmed = line.trim();
  const program = analysis.commands.length === 1 ? analysis.commands[0]?.[0] : undefined;
  if (program !== undefined && runsNothingElse.has(program) && !hidesWhatItRuns(program))
    return `bash(${program} *)`;
  const text = `bash(${trimmed})`;
  if (trimmed.length > maxRememberedChars) return null;
  try {
    const rule = parseRule(text);
    return rule.tool === "bash" && exactRule(line, analysis.commands, [rule]) ? text : null;
  } catch {
    // A line with redirections is no rule; it can be allowed once only.
    return null;
  }
}

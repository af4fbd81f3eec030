import type { Mode, Project } from "../../protocol/objects.ts";
import type { RuleSet } from "../rules/rules.ts";
import { makeVisible } from "../visible-text.ts";
import type { InstructionFile } from "./instruction-files.ts";

/** What `/context` tells: everything that the daemon itself brings into a turn of this agent. */
export interface ContextFacts {
  readonly cwd: string;
  readonly trusted: boolean;
  readonly mode: Mode;
  readonly runtime: string;
  readonly model: string | null;
  readonly project: Project | null;
  readonly rules: RuleSet;
  /** Rules that `allow_session` remembered for this agent. */
  readonly sessionRules: readonly string[];
  readonly instructions: readonly InstructionFile[];
  /** Tokens in the conversation, as the model's last answer counted them. */
  readonly contextTokens: number | null;
}

const shownRules = 20;

/** The answer to `/context` as Markdown. */
export function contextReport(facts: ContextFacts): string {
  const { project } = facts;
  const lines = [
    "## Context",
    "",
    `- Folder: ${code(facts.cwd)} (${facts.trusted ? "trusted" : "not trusted: only the shell runs here, and no project commands"})`,
    ...(project?.root
      ? [`- Repository: ${code(project.root)}${project.branch ? `, branch ${code(project.branch)}` : ""}`]
      : []),
    `- Mode: ${facts.mode}`,
    `- Runtime: ${facts.runtime}${facts.model === null ? "" : `, model ${code(facts.model)}`}`,
    ...(facts.contextTokens === null ? [] : [`- Conversation: ${facts.contextTokens} tokens`]),
    "",
    "### Rules",
    "",
    ...ruleLines("deny", facts.rules.deny),
    ...ruleLines("allow", facts.rules.allow),
    ...ruleLines("allowed for this session", facts.sessionRules),
    ...(facts.rules.deny.length + facts.rules.allow.length + facts.sessionRules.length === 0
      ? ["None."]
      : []),
    "",
    "### Project files",
    "",
    ...(facts.instructions.length === 0 ? ["None found."] : facts.instructions.map(instructionLine)),
    "",
    "### Commands",
    "",
    ...(project === null || project.commands.length === 0
      ? ["None found."]
      : project.commands.map(
          (command) =>
            `- \`/${command.name}\` (${code(command.source)})${command.description ? `: ${oneLine(command.description)}` : ""}`,
        )),
  ];
  return lines.join("\n");
}

function ruleLines(title: string, rules: readonly string[]): string[] {
  if (rules.length === 0) return [];
  const more = rules.length > shownRules ? [`- … and ${rules.length - shownRules} more`] : [];
  return [
    `${rules.length} ${title}:`,
    ...rules.slice(0, shownRules).map((rule) => `- ${code(rule)}`),
    ...more,
  ];
}

function instructionLine({ path, bytes, skipped }: InstructionFile): string {
  return `- ${code(path)}: ${bytes} bytes${skipped === null ? "" : ` (skipped: ${oneLine(skipped)})`}`;
}

/** A code span (CommonMark, "Code spans") that nothing in the text can end. */
function code(text: string): string {
  const plain = oneLine(text);
  const longest = (plain.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0);
  const ticks = "`".repeat(longest + 1);
  return longest === 0 ? `\`${plain}\`` : `${ticks} ${plain} ${ticks}`;
}

function oneLine(text: string): string {
  return makeVisible(text, { keepLayout: false });
}

import { judgeCommand } from "./judge-command.ts";
import { judgeEdit } from "./judge-edit.ts";
import { judgeUnseen } from "./judge-unseen.ts";
import { parseRule, type Rule } from "./parse-rule.ts";
import type { JudgeCall, Verdict } from "./rules.ts";

interface ParsedRules {
  readonly rules: readonly Rule[];
  /** Texts that are no rules. The configuration refuses them; here they must not weaken anything. */
  readonly broken: boolean;
}

const parsedLists = new WeakMap<readonly string[], { readonly key: string; readonly parsed: ParsedRules }>();

/** Judges one call under the mode of its tab. A deny rule that cannot be read makes everything ask that is not denied. */
export const judgeCall: JudgeCall = (call, mode, rules, sessionRules) => {
  const deny = parseAll(rules.deny);
  if (call.tool === "other" || call.hidden)
    return judgeUnseen(call, mode, rules.deny.length > 0, sessionRules);
  const allow = [...parseAll(rules.allow).rules, ...parseAll(sessionRules).rules];
  const verdict: Verdict =
    call.tool === "bash"
      ? judgeCommand(call.subject, mode, allow.filter(isBash), deny.rules.filter(isBash))
      : judgeEdit(call.subject, call.cwd, mode, allow.filter(isEdit), deny.rules.filter(isEdit));
  return deny.broken && verdict.verdict === "allow" ? { verdict: "ask", allowSession: null } : verdict;
};

function isBash(rule: Rule): rule is Extract<Rule, { tool: "bash" }> {
  return rule.tool === "bash";
}
function isEdit(rule: Rule): rule is Extract<Rule, { tool: "edit" }> {
  return rule.tool === "edit";
}

/** Parses a list once. Session rules grow in place, so the texts are compared as well. */
function parseAll(texts: readonly string[]): ParsedRules {
  const key = texts.join("\0");
  const known = parsedLists.get(texts);
  if (known?.key === key) return known.parsed;
  const rules: Rule[] = [];
  let broken = false;
  for (const text of texts) {
    try {
      rules.push(parseRule(text));
    } catch {
      // An allow rule that cannot be read allows nothing; a broken deny rule is reported to the caller.
      broken = true;
    }
  }
  const parsed = { rules, broken };
  parsedLists.set(texts, { key, parsed });
  return parsed;
}

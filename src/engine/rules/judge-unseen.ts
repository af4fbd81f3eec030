import type { Mode } from "../../protocol/objects.ts";
import type { CallToJudge, Verdict } from "./rules.ts";

const maxRememberedChars = 500;

/**
 * Judges what no rule can look into: a call that is neither a command nor a write, or one of which only the agent's own
 * words are known. It asks, unless the mode is `autopilot`; a call that may run or write what a rule denies asks there too.
 * What is no command and no write is remembered by its name and these very words.
 */
export function judgeUnseen(
  call: CallToJudge,
  mode: Mode,
  hasDenyRules: boolean,
  sessionRules: readonly string[],
): Verdict {
  const rule = call.tool === "other" && !call.hidden ? rememberedAs(call) : null;
  if (rule !== null && sessionRules.includes(rule)) return { verdict: "allow", by: rule };
  if (mode === "autopilot" && (call.tool === "other" || !hasDenyRules)) return { verdict: "allow", by: mode };
  return { verdict: "ask", allowSession: rule };
}

function rememberedAs({ name = "other", subject }: CallToJudge): string | null {
  const words = subject.trim();
  return words === "" || words.length > maxRememberedChars ? null : `${name}(${words})`;
}

import type { Mode } from "../../protocol/objects.ts";
import { escapePathPattern, pathBelow, pathMatches, plainPath } from "./match-path.ts";
import { type PathRule, parseRule } from "./parse-rule.ts";
import { isProtectedName, isProtectedPath } from "./protected-path.ts";
import type { Verdict } from "./rules.ts";

/**
 * Judges a write to `path`. In mode `edits` a path below the tab's folder is allowed unless it is protected; what lies
 * outside the folder asks. The caller passes the path that will really be written, with links resolved.
 */
export function judgeEdit(
  path: string,
  cwd: string,
  mode: Mode,
  allow: readonly PathRule[],
  deny: readonly PathRule[],
): Verdict {
  const subject = plainPath(path);
  const folder = plainPath(cwd);
  if (subject === null || folder === null)
    return mode === "autopilot" && deny.length === 0 ? byMode(mode) : { verdict: "ask", allowSession: null };
  const denied = deny.find((rule) => pathMatches(rule.pattern, subject, folder, true));
  if (denied) return { verdict: "deny", by: denied.text };
  const guarded = isProtectedPath(subject);
  const allowed = allow.find(
    (rule) => pathMatches(rule.pattern, subject, folder, false) && (!guarded || namesProtected(rule.pattern)),
  );
  if (allowed) return { verdict: "allow", by: allowed.text };
  if (mode === "autopilot") return byMode(mode);
  if (mode === "edits" && !guarded && pathBelow(subject, folder) !== null) return byMode(mode);
  return { verdict: "ask", allowSession: rememberedAs(subject, folder) };
}

function byMode(mode: Mode): Verdict {
  return { verdict: "allow", by: mode };
}

/** `edit(**)` does not stand for `.git/config`; `edit(.github/**)` says what it means. */
function namesProtected(pattern: readonly string[]): boolean {
  return pattern.some(isProtectedName);
}

function rememberedAs(subject: string, folder: string): string | null {
  const text = `edit(${escapePathPattern(pathBelow(subject, folder) ?? subject)})`;
  try {
    const rule = parseRule(text);
    return rule.tool === "edit" && pathMatches(rule.pattern, subject, folder, false) ? text : null;
  } catch {
    // A name that no pattern can spell is allowed once only.
    return null;
  }
}

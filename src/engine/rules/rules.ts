import type { Mode } from "../../protocol/objects.ts";

/** Rules of the configuration, in the form `bash(git status)`, `bash(wc *)`, `edit(src/**)`. Deny goes first in every mode. */
export interface RuleSet {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export interface CallToJudge {
  readonly tool: "bash" | "edit" | "other";
  /** Of `other`: the name by which it is remembered. */
  readonly name?: string;
  /** The whole command line, or the absolute path. Of `other` the words of the agent that asks. */
  readonly subject: string;
  /** The subject is only what the agent says of its call: nobody knows what would be run or written. */
  readonly hidden?: boolean;
  /** The folder of the tab, absolute. */
  readonly cwd: string;
}

export type Verdict =
  | { readonly verdict: "allow"; readonly by: string }
  | {
      readonly verdict: "ask";
      /** What `allow_session` would remember, as shown: `bash(wc *)`, or the exact line; null where nothing can be remembered. */
      readonly allowSession: string | null;
    }
  | { readonly verdict: "deny"; readonly by: string };

/** Judges one call. Pure: no file, no clock. `sessionRules` are those that `allow_session` remembered for this agent. */
export type JudgeCall = (
  call: CallToJudge,
  mode: Mode,
  rules: RuleSet,
  sessionRules: readonly string[],
) => Verdict;

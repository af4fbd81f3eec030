import type { ProblemFinding } from "./provider.ts";
import { stripAnsi } from "./public-url.ts";

/** Words in a tool's output, and what they mean for the person who waits. */
export interface KnownProblem {
  readonly pattern: RegExp;
  readonly text: string;
  /** Trying again will not help. */
  readonly final: boolean;
}

/** The first known problem that a line tells of, else null. */
export function knownProblem(line: string, known: readonly KnownProblem[]): ProblemFinding | null {
  const found = known.find(({ pattern }) => pattern.test(line));
  return found ? explained(found.text, found.final) : null;
}

/** A problem in words of ours. */
export function explained(text: string, final = false): ProblemFinding {
  return { kind: "problem", text, final, isKnown: true };
}

/** A line that looks like a complaint, for when nothing better is known. */
export function complaint(line: string): ProblemFinding | null {
  const text = stripAnsi(line).trim();
  return /\b(err(or)?|fatal|fail(ed|ure)?|denied|refused|cannot|could not|invalid)\b/i.test(text)
    ? { kind: "problem", text: text.slice(0, 300), final: false, isKnown: false }
    : null;
}

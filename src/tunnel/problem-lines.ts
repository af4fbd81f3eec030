import type { Finding } from "./provider.ts";
import { stripAnsi } from "./public-url.ts";

/** Words in a tool's output, and what they mean for the person who waits. */
export interface KnownProblem {
  readonly pattern: RegExp;
  readonly text: string;
  /** Trying again will not help. */
  readonly final: boolean;
}

/** The first known problem that a line tells of, else null. */
export function knownProblem(line: string, known: readonly KnownProblem[]): Finding | null {
  const found = known.find(({ pattern }) => pattern.test(line));
  return found ? { kind: "problem", text: found.text, final: found.final } : null;
}

/** A line that looks like a complaint, for when nothing better is known. */
export function complaint(line: string): Finding | null {
  const text = stripAnsi(line).trim();
  return /\b(err(or)?|fatal|fail(ed|ure)?|denied|refused|cannot|could not|invalid)\b/i.test(text)
    ? { kind: "problem", text: text.slice(0, 300), final: false }
    : null;
}

import { parseRule } from "../engine/rules/parse-rule.ts";
import { SallyportError } from "../errors.ts";

/** What is wrong with a rule of the configuration, in words; null for a good one. */
export function ruleProblem(rawRule: string): string | null {
  try {
    parseRule(rawRule);
    return null;
  } catch (error) {
    if (error instanceof SallyportError) return error.message;
    throw error;
  }
}

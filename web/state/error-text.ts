import { AnswerError, UnreachableError } from "../../src/client/answer-error.ts";

/** What went wrong, for a person; every refusal of the daemon says itself what to do. */
export function errorText(error: unknown): string {
  if (error instanceof AnswerError) {
    const seconds = error.body.retry_after;
    return seconds === undefined ? error.message : `${error.message} Wait ${waitText(seconds)}.`;
  }
  if (error instanceof UnreachableError) return "There is no connection to the daemon at the moment.";
  return error instanceof Error ? error.message : "Something went wrong on this page.";
}

/** Seconds as words: `40 s`, `9 min`. */
export function waitText(seconds: number): string {
  return seconds < 90 ? `${Math.max(1, Math.ceil(seconds))} s` : `${Math.ceil(seconds / 60)} min`;
}

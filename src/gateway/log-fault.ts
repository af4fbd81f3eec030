import { SallyportError } from "../errors.ts";
import type { Log } from "../lib/log.ts";

/** Logs what the operator must know of a failure and the client is not told: a fault of ours, or the file behind a refusal. */
export function logFault(log: Log, thrown: unknown, what: "request" | "command"): void {
  if (!(thrown instanceof SallyportError)) log.error({ err: thrown }, `a ${what} failed unexpectedly`);
  else if (thrown.detail !== undefined)
    log.warn({ code: thrown.code, problem: thrown.detail }, `a ${what} was refused`);
}

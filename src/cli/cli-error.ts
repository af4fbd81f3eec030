import { AnswerError, type RawErrorBody, UnreachableError } from "../client/answer-error.ts";
import { type ErrorCode, errorBody, SallyportError } from "../errors.ts";

/** 0 done, 1 failed, 2 wrong usage, 3 no daemon, 4 not allowed. `run` has 125 of its own for our failures. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  noDaemon: 3,
  notAllowed: 4,
  runFailed: 125,
  interrupted: 130,
} as const;

/** A failure that the command line itself reports. The message ends with the next step. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: number;
  readonly code: ErrorCode;

  constructor(exitCode: number, code: ErrorCode, message: string) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** Wrong usage: exit code 2. */
export function usageError(message: string): CliError {
  return new CliError(exitCodes.usage, "bad_request", message);
}

/** No daemon that proved to be ours: exit code 3. */
export function noDaemonError(message: string): CliError {
  return new CliError(exitCodes.noDaemon, "not_found", message);
}

/** Anything else of our own: exit code 1. */
export function failedError(message: string, code: ErrorCode = "internal"): CliError {
  return new CliError(exitCodes.failed, code, message);
}

export interface Failure {
  readonly exitCode: number;
  /** What `--json` prints. */
  readonly body: RawErrorBody;
  readonly message: string;
}

/** Turns whatever a command threw into its exit code, the JSON body and the text for people. */
export function describeFailure(thrown: unknown): Failure {
  if (thrown instanceof CliError)
    return {
      exitCode: thrown.exitCode,
      body: { type: "error", code: thrown.code, message: thrown.message },
      message: thrown.message,
    };
  if (thrown instanceof AnswerError)
    return { exitCode: exitCodeOfAnswer(thrown), body: thrown.body, message: thrown.message };
  if (thrown instanceof UnreachableError)
    return {
      exitCode: exitCodes.failed,
      body: { type: "error", code: "internal", message: thrown.message },
      message: `${thrown.message} See how it does: sallyport daemon status`,
    };
  if (thrown instanceof SallyportError)
    return { exitCode: exitCodes.failed, body: { ...errorBody(thrown) }, message: thrown.message };
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return {
    exitCode: exitCodes.failed,
    body: { type: "error", code: "internal", message },
    message: `${/[.!?]$/.test(message) ? message : `${message}.`} If this looks wrong, run: sallyport doctor`,
  };
}

const notAllowedCodes: ReadonlySet<string> = new Set([
  "unauthorized",
  "remote_off",
  "host_refused",
  "origin_refused",
  "scope_missing",
  "pairing_refused",
  "path_refused",
  "rule_denied",
]);

/** 401 and 403 are "not allowed"; a refusal over the socket has no status, so its code tells. */
function exitCodeOfAnswer(error: AnswerError): number {
  const refused =
    error.status === 401 ||
    error.status === 403 ||
    (error.status === 0 && notAllowedCodes.has(error.body.code));
  return refused ? exitCodes.notAllowed : exitCodes.failed;
}

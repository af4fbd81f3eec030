import type { ErrorBody } from "../errors.ts";

/** The body of a refusal as it arrived: `code` may be one that this version does not know. */
export interface RawErrorBody extends Omit<ErrorBody, "code" | "reason"> {
  readonly code: string;
  readonly reason?: string;
  readonly [extra: string]: unknown;
}

/** The daemon answered, and the answer is a refusal. `status` is 0 for one that came over a socket. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
  readonly status: number;
  readonly body: RawErrorBody;

  constructor(status: number, body: RawErrorBody) {
    super(body.message);
    this.status = status;
    this.body = body;
  }
}

/** Nobody answered, or what answered does not speak this protocol. */
export class UnreachableError extends Error {
  override readonly name: string = "UnreachableError";
}

/** An answer's body as an error: its own where it is of our one shape, else a neutral one that names the status. */
export function errorBodyOf(status: number, raw: unknown): RawErrorBody {
  if (isErrorBody(raw)) return raw;
  return {
    type: "error",
    code: status === 401 ? "unauthorized" : "bad_request",
    message: `The daemon refused with status ${status} and no reason.`,
  };
}

/** True for `{"type":"error","code":…,"message":…}`. */
export function isErrorBody(raw: unknown): raw is RawErrorBody {
  return (
    isRecord(raw) && raw.type === "error" && typeof raw.code === "string" && typeof raw.message === "string"
  );
}

/** True for a JSON object. */
export function isRecord(raw: unknown): raw is Record<string, unknown> {
  return typeof raw === "object" && raw !== null && !Array.isArray(raw);
}

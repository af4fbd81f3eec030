/** Every code an error may carry on the wire, with its HTTP status (docs/errors.md). */
export const errorStatus = {
  bad_request: 400,
  bad_host: 400,
  unauthorized: 401,
  remote_off: 403,
  host_refused: 403,
  origin_refused: 403,
  scope_missing: 403,
  pairing_refused: 403,
  path_refused: 403,
  rule_denied: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  invalid_field: 422,
  not_supported: 422,
  socket_only: 426,
  rate_limited: 429,
  pairing_locked: 429,
  too_many_headers: 431,
  overloaded: 503,
  disk_full: 503,
  internal: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;
export type ConflictReason = "busy" | "already_resolved" | "changed" | "turn_over" | "in_use" | "running";

export interface RefusalDetails {
  readonly reason?: ConflictReason;
  /** Name of the field that is wrong, as the client wrote it. */
  readonly field?: string;
  readonly retryAfterSeconds?: number;
  /** For the log only; never sent. Must hold no secret. */
  readonly detail?: string;
  readonly cause?: unknown;
}

/** A refusal as a value: what a decision returns, and what `SallyportError` carries. `message` is shown to the client. */
export interface Refusal extends RefusalDetails {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The one error class for everything we refuse. Untrusted input ends here, never in a TypeError. */
export class SallyportError extends Error {
  override readonly name = "SallyportError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly reason: ConflictReason | undefined;
  readonly field: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly detail: string | undefined;

  constructor(code: ErrorCode, message: string, details: RefusalDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = errorStatus[code];
    this.reason = details.reason;
    this.field = details.field;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.detail = details.detail;
  }
}

/** The body of an error on REST and the native socket: `{"type":"error",…}`. */
export interface ErrorBody {
  readonly type: "error";
  readonly code: ErrorCode;
  readonly message: string;
  readonly reason?: ConflictReason;
  readonly field?: string;
  readonly retry_after?: number;
  readonly client_ref?: string;
}

/**
 * Turns any thrown value into the wire body. What is not ours becomes `internal` with a neutral text: nothing of an
 * unexpected error is shown to a client.
 */
export function errorBody(thrown: unknown, clientRef?: string): ErrorBody {
  const known =
    thrown instanceof SallyportError
      ? thrown
      : new SallyportError("internal", "Something went wrong in the daemon; its log says what.");
  return {
    type: "error",
    code: known.code,
    message: known.message,
    ...(known.reason === undefined ? {} : { reason: known.reason }),
    ...(known.field === undefined ? {} : { field: known.field }),
    ...(known.retryAfterSeconds === undefined ? {} : { retry_after: known.retryAfterSeconds }),
    ...(clientRef === undefined ? {} : { client_ref: clientRef }),
  };
}

import { closeCodes } from "../protocol/close-codes.ts";
import { AnswerError, isRecord } from "./answer-error.ts";

/** Why a client does not come back. Each needs a person. */
export type StopReason =
  /** The token counts no more: forget it and pair again. */
  | "revoked"
  /** Remote access was switched off on the daemon. */
  | "remote_off"
  /** The device lost the scope `view`. */
  | "scope_missing"
  /** The daemon did not understand what this client sends. */
  | "malformed"
  /** `close` was called. */
  | "closed";

export type Next =
  | { readonly action: "stop"; readonly reason: StopReason; readonly message: string }
  /** `waitMs` null: by back-off. */
  | { readonly action: "retry"; readonly waitMs: number | null; readonly message: string };

const defaultFloodWaitMs = 10_000;
const maxWaitMs = 600_000;

/** What a client does after its socket closed (docs/errors.md, "Close codes"). `reason` is the close frame's text. */
export function afterClose(code: number, reason: string): Next {
  switch (code) {
    case closeCodes.revoked:
      return stop("revoked", "This device was revoked, or its token has expired. Pair again.");
    case closeCodes.exposureOff:
      return reason === "scope_missing"
        ? stop("scope_missing", "This device may no longer look at the daemon.")
        : stop("remote_off", "Remote access was switched off on this daemon.");
    case closeCodes.malformed:
      return stop("malformed", "The daemon did not understand this client. Is one of them outdated?");
    case closeCodes.flood:
      return retry("The daemon asks to slow down.", retryAfterMs(reason) ?? defaultFloodWaitMs);
    case closeCodes.goingAway:
      return retry("The daemon stops or starts again.");
    default:
      return retry(`The connection was lost (${code}).`);
  }
}

/**
 * What a client does after it could not connect, by what `GET /api/daemon` then answers: a browser does not show why an
 * upgrade was refused.
 *
 * @param failure what was thrown; null when the daemon answered well
 */
export function afterRefusal(failure: unknown): Next {
  if (!(failure instanceof AnswerError))
    return retry(failure instanceof Error ? failure.message : "The daemon closed the connection.");
  const { status, body } = failure;
  if (status === 401) return stop("revoked", body.message);
  if (status === 403 && (body.code === "remote_off" || body.code === "scope_missing"))
    return stop(body.code, body.message);
  return retry(body.message, secondsToMs(body.retry_after));
}

function stop(reason: StopReason, message: string): Next {
  return { action: "stop", reason, message };
}

function retry(message: string, waitMs: number | null = null): Next {
  return { action: "retry", waitMs, message };
}

/** The reason of a close for flooding is `{"retry_after":<seconds>}`. */
function retryAfterMs(reason: string): number | null {
  try {
    const raw: unknown = JSON.parse(reason);
    return isRecord(raw) ? secondsToMs(raw.retry_after) : null;
  } catch {
    return null; // Then the default counts.
  }
}

function secondsToMs(raw: unknown): number | null {
  return typeof raw === "number" && raw >= 0 ? Math.min(raw * 1_000, maxWaitMs) : null;
}

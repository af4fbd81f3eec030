import { type ErrorCode, errorStatus, type Refusal, SallyportError } from "../../errors.ts";
import type { JsonRecord } from "../../lib/jsonl-read.ts";

/** Where an accepted prompt went. */
export interface ReceiptPlace {
  readonly workspace: string;
  readonly tab: string;
  readonly agent: string;
  readonly turn: string;
}
type KnownRefusal = Pick<Refusal, "code" | "message" | "reason" | "field">;

/**
 * Lines of `receipts.jsonl`. `intent` is on disk before the turn's first record; what follows says what became of it.
 * An intent with nothing after it is looked up in the transcript: the turn's own record decides.
 */
export type ReceiptRecord = { readonly owner: string; readonly request_id: string; readonly at: number } & (
  | ({ readonly status: "intent"; readonly seq: number } & ReceiptPlace)
  | ({ readonly status: "accepted" } & ReceiptPlace)
  | { readonly status: "rejected"; readonly error: KnownRefusal }
  | { readonly status: "dropped" }
);

/** Lines without a `version` are of version 1. */
const currentVersion = 1;

/** True for a line of a format that this Sallyport does not know: then the file must stay as it is. */
export function isOfNewerVersion(raw: JsonRecord): boolean {
  return typeof raw.version === "number" && raw.version > currentVersion;
}

/** Parses one line; null for what is none of ours. */
export function parseReceiptRecord(raw: JsonRecord): ReceiptRecord | null {
  const { owner, request_id, at, status, seq, error } = raw;
  if (typeof owner !== "string" || typeof request_id !== "string" || typeof at !== "number") return null;
  const key = { owner, request_id, at };
  if (status === "dropped") return { ...key, status };
  if (status === "rejected") {
    const refusal = parseRefusal(error);
    return refusal && { ...key, status, error: refusal };
  }
  const { workspace, tab, agent, turn } = raw;
  if (typeof workspace !== "string" || typeof tab !== "string") return null;
  if (typeof agent !== "string" || typeof turn !== "string") return null;
  const place = { workspace, tab, agent, turn };
  if (status === "accepted") return { ...key, status, ...place };
  return status === "intent" && typeof seq === "number" ? { ...key, status, seq, ...place } : null;
}

function parseRefusal(raw: unknown): KnownRefusal | null {
  if (typeof raw !== "object" || raw === null) return null;
  const { code, message, reason, field } = raw as Record<string, unknown>;
  if (typeof code !== "string" || !Object.hasOwn(errorStatus, code) || typeof message !== "string")
    return null;
  return {
    code: code as ErrorCode,
    message,
    ...(reason === "busy" || reason === "in_use" || reason === "running" ? { reason } : {}),
    ...(typeof field === "string" ? { field } : {}),
  };
}

/**
 * True for a refusal that is the final answer to a prompt. What depends on the moment (the disk, load, a token) is
 * none: the same prompt may be sent again.
 */
export function isFinalRefusal(error: unknown): error is SallyportError {
  return (
    error instanceof SallyportError &&
    error.status < 500 &&
    error.status !== 429 &&
    error.code !== "unauthorized" &&
    error.code !== "scope_missing"
  );
}

export function refusalOf(error: SallyportError): KnownRefusal {
  return {
    code: error.code,
    message: error.message,
    ...(error.reason === undefined ? {} : { reason: error.reason }),
    ...(error.field === undefined ? {} : { field: error.field }),
  };
}

import type { PostAnswer } from "./post.ts";

/** What became of one push. */
export type PushOutcome =
  | { readonly kind: "accepted" }
  /** The subscription exists no more. */
  | { readonly kind: "gone" }
  | { readonly kind: "failed"; readonly problem: string; readonly retryAfterMs: number | null };

const maxRetryAfterMs = 24 * 60 * 60_000;

/**
 * Reads the answer of a push service (RFC 8030 §5, §7.3). 3xx is a failure: redirects are not followed.
 *
 * @param nowMs epoch milliseconds, for a Retry-After that is a date
 */
export function judgeAnswer({ status, rawRetryAfter }: PostAnswer, nowMs: number): PushOutcome {
  if (status >= 200 && status < 300) return { kind: "accepted" };
  if (status === 404 || status === 410) return { kind: "gone" };
  const problem =
    status === 401 || status === 403
      ? `the push service does not take our key or contact (${status}): see push.contact in config.toml, or switch notifications off and on`
      : status === 429
        ? "the push service wants fewer messages (429)"
        : `the push service answered ${status}`;
  return { kind: "failed", problem, retryAfterMs: parseRetryAfter(rawRetryAfter, nowMs) };
}

/** Seconds or a date (RFC 9110 §10.2.3); null for none or for nonsense. Never more than a day. */
export function parseRetryAfter(raw: string | undefined, nowMs: number): number | null {
  if (raw === undefined || raw.length > 64) return null;
  const isSeconds = /^\d{1,9}$/.test(raw);
  const ms = isSeconds
    ? Number(raw) * 1_000
    : /^[A-Z][a-z]{2}, /.test(raw)
      ? Date.parse(raw) - nowMs
      : Number.NaN;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), maxRetryAfterMs);
}

const firstBackOffMs = 15_000;
const maxBackOffMs = 60 * 60_000;

/**
 * How long a subscription rests after so many failures in a row: doubled each time up to an hour, longer if the service says
 * so, and spread by up to a quarter so that not all of them come back at once.
 *
 * @param fraction random, 0 to 1
 */
export function backOffMs(failures: number, retryAfterMs: number | null, fraction: number): number {
  const own = Math.min(firstBackOffMs * 2 ** Math.min(failures - 1, 16), maxBackOffMs);
  return Math.round(Math.max(own, retryAfterMs ?? 0) * (1 + fraction / 4));
}

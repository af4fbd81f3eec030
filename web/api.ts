import type { ErrorBody } from "../src/errors.ts";

/** The answer of the daemon, or that none came. */
export type Answer<T> =
  | { readonly kind: "ok"; readonly body: T }
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly error: ErrorBody;
      readonly retryAfterSeconds: number | null;
    }
  | { readonly kind: "offline" };

export interface Api {
  readonly base: string;
  call<T>(method: "GET" | "POST" | "DELETE", path: string, options?: CallOptions): Promise<Answer<T>>;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly token?: string | null;
}

const timeoutMs = 15_000;

/** Calls the daemon below `base` and nothing else. Never throws: no answer, or one that is not ours, is `offline`. */
export function createApi(base: string): Api {
  return {
    base,
    async call<T>(method: string, path: string, { body, token }: CallOptions = {}): Promise<Answer<T>> {
      try {
        const response = await fetch(new URL(path, base), {
          method,
          cache: "no-store",
          credentials: "omit",
          redirect: "error",
          signal: AbortSignal.timeout(timeoutMs),
          headers: {
            ...(body === undefined ? {} : { "Content-Type": "application/json" }),
            ...(token ? { Authorization: `Bearer ${token}` } : {}),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        if (response.ok) return { kind: "ok", body: (text === "" ? null : JSON.parse(text)) as T };
        return {
          kind: "refused",
          status: response.status,
          error: readError(text),
          retryAfterSeconds: readSeconds(response.headers.get("Retry-After")),
        };
      } catch {
        // No connection, a time-out, or something else that answers at this address: for the person it is the same.
        return { kind: "offline" };
      }
    },
  };
}

function readError(text: string): ErrorBody {
  const fallback: ErrorBody = { type: "error", code: "internal", message: "The daemon gave no reason." };
  try {
    const raw: unknown = JSON.parse(text);
    if (typeof raw !== "object" || raw === null || !("code" in raw) || !("message" in raw)) return fallback;
    return typeof raw.code === "string" && typeof raw.message === "string" ? (raw as ErrorBody) : fallback;
  } catch {
    // A proxy's page instead of the daemon's answer.
    return fallback;
  }
}

function readSeconds(header: string | null): number | null {
  const seconds = header === null ? Number.NaN : Number(header);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}

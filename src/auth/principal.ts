import type { Scope } from "../protocol/scopes.ts";

/** `local` only if every sign says so (docs/adr/0001); everything else is `remote`. Being local is not a credential. */
export type RequestClass = "local" | "remote";

/** Who the credential says is calling. */
export type Principal = { readonly kind: "master" } | { readonly kind: "device"; readonly device: string };

export type LeaseEnd = "revoked" | "expired" | "rotated";

/**
 * What an admission yields: a live view of one principal. `scopes`, `name` and `ended` are read at each use and never
 * copied, so that a revoke, an expiry or a PATCH reaches whatever is in flight. One lease object may serve many requests.
 */
export interface Lease {
  readonly principal: Principal;
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Epoch milliseconds, or null for never. */
  readonly expiresAtMs: number | null;
  /** True for a device made from a page ticket: its token counts on local requests only. */
  readonly localOnly: boolean;
  readonly ended: LeaseEnd | null;
  /** Calls `listener` once when the lease ends (at once if it has). Returns how to stop listening. */
  onEnd(listener: (end: LeaseEnd) => void): () => void;
}

/** What a request presents, found in its header or query but not judged yet. */
export type RawCredential =
  | { readonly kind: "token"; readonly rawToken: string }
  | { readonly kind: "ticket"; readonly rawTicket: string; readonly purpose: "socket" | "page" };

/**
 * Judges a credential. `null` means 401, whatever the reason. Synchronous when the token was verified before in this
 * process; a promise on a miss. Rejects with `SallyportError("overloaded")` when the hash queue is full.
 */
export type VerifyCredential = (
  raw: RawCredential,
  requestClass: RequestClass,
) => Lease | null | Promise<Lease | null>;

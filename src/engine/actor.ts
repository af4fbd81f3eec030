import type { By } from "../protocol/objects.ts";
import type { Scope } from "../protocol/scopes.ts";

/**
 * Who asks the engine for something. The engine knows owner ids, never tokens or sockets; the gateway makes one from a
 * lease. `device` is null for the local master.
 */
export interface Actor {
  readonly by: By;
  /** Reads the scopes as they are now. */
  has(scope: Scope): boolean;
  /** Throws `unauthorized` when the device was revoked or its token expired. Called at the commit point of each mutation. */
  assertLive(): void;
  /** Calls `listener` once when the device is revoked or its token expires (at once if it has). Returns how to stop. */
  onEnd?(listener: () => void): () => void;
}

/** The key that receipts are kept under: the same `request_id` from another principal is another prompt. */
export function ownerKey(actor: Actor): string {
  return actor.by.device ?? "local";
}

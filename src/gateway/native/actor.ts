import type { Lease } from "../../auth/principal.ts";
import type { Actor } from "../../engine/actor.ts";
import { SallyportError } from "../../errors.ts";

/** True once a lease grants nothing any more, also when its end was not announced yet. */
export function leaseIsOver(lease: Lease, nowMs: number): boolean {
  return lease.ended !== null || (lease.expiresAtMs !== null && nowMs >= lease.expiresAtMs);
}

/** The engine's view of a lease: an owner id and a name, scopes as they are now. The master token acts as `local`. */
export function actorOf(lease: Lease, now: () => number): Actor {
  const { principal } = lease;
  return {
    get by() {
      return principal.kind === "device"
        ? { device: principal.device, name: lease.name }
        : { device: null, name: "local" };
    },
    has: (scope) => lease.scopes.has(scope),
    assertLive() {
      if (leaseIsOver(lease, now()))
        throw new SallyportError("unauthorized", "This device was revoked or its token has expired.");
    },
    onEnd: (listener) => lease.onEnd(() => listener()),
  };
}

import type { Lease } from "../auth/principal.ts";
import { type Refusal, SallyportError } from "../errors.ts";
import type { By } from "../protocol/objects.ts";
import type { Scope } from "../protocol/scopes.ts";

/** Who did something, as every list and log names it. */
export function byOf(lease: Lease): By {
  return { device: lease.principal.kind === "device" ? lease.principal.device : null, name: lease.name };
}

/** True for that device alone: the master is no device. */
export function isSelf(lease: Lease, device: string): boolean {
  return lease.principal.kind === "device" && lease.principal.device === device;
}

/**
 * The commit point of a change: between the gate and here a body was read, and the principal may have ended meanwhile.
 *
 * @throws SallyportError `unauthorized`
 */
export function assertLive(lease: Lease): void {
  if (lease.ended)
    throw new SallyportError("unauthorized", "This token no longer counts. Pair the device again.");
}

/** Throws what a rule decided, if it refused. */
export function enforce(refusal: Refusal | null): void {
  if (refusal) throw new SallyportError(refusal.code, refusal.message, refusal);
}

const needsAdmin: Refusal = {
  code: "scope_missing",
  message: "This needs the scope admin. Do it from a device that has it, or on the daemon's machine.",
};

/** Whether a principal may give away these scopes: only with `admin`, and only what it holds itself. */
export function grantRefusal(granter: Lease, scopes: readonly Scope[]): Refusal | null {
  if (!granter.scopes.has("admin")) return needsAdmin;
  const missing = scopes.filter((scope) => !granter.scopes.has(scope));
  if (missing.length === 0) return null;
  return {
    code: "scope_missing",
    message: `You can give only scopes that you hold; missing: ${missing.join(", ")}.`,
    field: "scopes",
  };
}

export interface DevicePatch {
  readonly name?: string;
  readonly scopes?: readonly Scope[];
}

/**
 * Whether a principal may change a device: without `admin` only its own name; with it any name, and scopes so far as every
 * scope that the device does not have yet is one of its own. So nobody can raise itself.
 */
export function patchRefusal(
  caller: Lease,
  target: { readonly id: string; readonly scopes: ReadonlySet<Scope> },
  patch: DevicePatch,
): Refusal | null {
  if (patch.scopes) {
    const refused = grantRefusal(
      caller,
      patch.scopes.filter((scope) => !target.scopes.has(scope)),
    );
    if (refused) return refused;
  }
  return isSelf(caller, target.id) || caller.scopes.has("admin") ? null : needsAdmin;
}

/** Every device may revoke itself; others only with `admin`. */
export function revokeRefusal(caller: Lease, target: string): Refusal | null {
  return isSelf(caller, target) || caller.scopes.has("admin") ? null : needsAdmin;
}

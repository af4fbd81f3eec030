import { clientAddress } from "../../auth/client-address.ts";
import type { Refusal } from "../../errors.ts";
import { found, type GatePass, type GateWorld } from "../gate-pass.ts";

/** Pairing has limits of its own: nobody may lock it by failing elsewhere, nor lock others out by guessing codes. */
const withOwnLimits: ReadonlySet<string> = new Set(["POST /api/pair"]);

/**
 * Counts everybody who is not a verified principal. A principal is never counted here, so that others' failures cannot
 * lock him out. Who presents nothing guesses nothing: that is counted like a public request.
 */
export function checkThrottle(pass: GatePass, world: GateWorld): Refusal | null {
  const { door, peer, headers, nowMs } = pass.arrival;
  pass.clientAddress = clientAddress(peer, door.addressSource, world.policy().isTrustedProxy, headers);
  if (pass.lease !== null || withOwnLimits.has(found(pass.route).label)) return null;
  const caller = { door: door.name, requestClass: found(pass.requestClass), address: pass.clientAddress };
  const waitSeconds =
    pass.failure === "not_accepted"
      ? world.throttle.takeFailure(caller, nowMs)
      : world.throttle.takePublic(caller, nowMs);
  if (waitSeconds === 0) return null;
  return {
    code: "rate_limited",
    message: `Too many requests without a valid credential. Try again in ${waitSeconds} s.`,
    retryAfterSeconds: waitSeconds,
  };
}

import { clientAddress } from "../../auth/client-address.ts";
import type { UnverifiedCaller } from "../../auth/throttle.ts";
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
  if (pass.lease !== null || withOwnLimits.has(found(pass.route).label) || asksWhoAnswers(pass)) return null;
  const caller = { door: door.name, requestClass: found(pass.requestClass), address: pass.clientAddress };
  const waitSeconds = take(pass, caller, world, nowMs);
  if (waitSeconds === 0) return null;
  return tooMany(waitSeconds);
}

const refusals = new Map<number, Refusal>();

/** The same object each time: whoever answers a flood can go by it. There are as many as a window has seconds. */
function tooMany(waitSeconds: number): Refusal {
  let refusal = refusals.get(waitSeconds);
  if (refusal === undefined) {
    refusal = Object.freeze({
      code: "rate_limited",
      message: `Too many requests without a valid credential. Try again in ${waitSeconds} s.`,
      retryAfterSeconds: waitSeconds,
    });
    refusals.set(waitSeconds, refusal);
  }
  return refusal;
}

function take(pass: GatePass, caller: UnverifiedCaller, world: GateWorld, nowMs: number): number {
  const { throttle } = world;
  if (pass.failure === "not_accepted") return throttle.takeFailure(caller, nowMs);
  return isPageFile(pass) ? throttle.takePageFile(caller, nowMs) : throttle.takePublic(caller, nowMs);
}

/**
 * Every command of the user on this machine begins with this question, before it may show its token. If it were counted,
 * any program here could keep the user from the daemon; the answer costs one HMAC, no more than a refusal.
 */
function asksWhoAnswers(pass: GatePass): boolean {
  return (
    pass.requestClass === "local" &&
    found(pass.route).label === "GET /api/hello" &&
    /(?:^|&)challenge=/.test(pass.handlerQuery)
  );
}

/** What a page loads after itself: counted as single requests, a few reloads would leave a page without its script. */
function isPageFile(pass: GatePass): boolean {
  const { path } = found(pass.target);
  return found(pass.route).kind === "static" && path !== "/" && !path.endsWith(".html");
}

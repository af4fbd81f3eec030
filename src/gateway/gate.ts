import type { Refusal } from "../errors.ts";
import { checkClassAndExposure } from "./checks/class-and-exposure.ts";
import { checkCredentials } from "./checks/credentials.ts";
import { checkHostName } from "./checks/host-name.ts";
import { checkHostSyntax } from "./checks/host-syntax.ts";
import { checkLimits } from "./checks/limits.ts";
import { checkOrigin } from "./checks/origin.ts";
import { checkScope } from "./checks/scope.ts";
import { checkThrottle } from "./checks/throttle.ts";
import type { GatePass, GateStep, GateWorld } from "./gate-pass.ts";

/**
 * The gate: every HTTP request, upgrade, CONNECT and Expect, at every door, passes these steps in this order, before any
 * framework sees it. The first refusal is the answer. Behind the table come the body's schema and the handler.
 */
export const gateTable: readonly GateStep[] = Object.freeze([
  { name: "limits", check: checkLimits },
  { name: "host syntax", check: checkHostSyntax },
  { name: "class and exposure", check: checkClassAndExposure },
  { name: "host name", check: checkHostName },
  { name: "origin", check: checkOrigin },
  { name: "credentials", check: checkCredentials },
  { name: "throttle", check: checkThrottle },
  { name: "scope", check: checkScope },
]);

/**
 * Runs a pass through the table; null means admitted. Synchronous unless a credential has to be verified for the first
 * time; then it rejects when the verifier does (`overloaded`), and the caller refuses.
 */
export function runGate(pass: GatePass, world: GateWorld): Refusal | null | Promise<Refusal | null> {
  return runFrom(0, pass, world);
}

function runFrom(first: number, pass: GatePass, world: GateWorld): Refusal | null | Promise<Refusal | null> {
  for (let at = first; at < gateTable.length; at++) {
    const step = gateTable[at];
    if (step === undefined) break;
    const result = step.check(pass, world);
    if (result instanceof Promise)
      return result.then((refusal) => refuse(pass, step, refusal) ?? runFrom(at + 1, pass, world));
    if (result !== null) return refuse(pass, step, result);
  }
  return null;
}

function refuse(pass: GatePass, step: GateStep, refusal: Refusal | null): Refusal | null {
  if (refusal !== null) pass.refusedBy = step.name;
  return refusal;
}

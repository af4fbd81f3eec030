import type { IncomingMessage } from "node:http";
import type { Lease, RequestClass } from "../auth/principal.ts";

/** What the gate found out about a request that it let in. Handlers are given it and never work out who is calling. */
export interface Admission {
  readonly requestClass: RequestClass;
  /** `main`, or the name of a forwarder's door. */
  readonly door: string;
  /** The address that limits are counted under; null where no trustworthy one is known (a blind door). */
  readonly clientAddress: string | null;
  /** Null on public routes only. */
  readonly lease: Lease | null;
  /** The browser sees a secure context: https at our door or in front of it, or this very machine. Absent: no. */
  readonly isSecure?: boolean;
}

/** A property, not a WeakMap: an entry of one per request is work for the collector that can be measured. */
const admissionKey = Symbol("admission");

interface AdmittedRequest extends IncomingMessage {
  [admissionKey]?: Admission;
}

/** Called by the gate, once, when the whole table has passed. */
export function admit(request: AdmittedRequest, admission: Admission): void {
  request[admissionKey] = admission;
}

/** The admission of a request. Throws TypeError if it never passed the gate: a handler reached by another way is a bug. */
export function admissionOf(request: AdmittedRequest): Admission {
  const admission = request[admissionKey];
  if (!admission) throw new TypeError("a request reached a handler without passing the gate");
  return admission;
}

import type { Lease } from "../auth/principal.ts";
import type { Admission } from "./admission.ts";

/** The caller's lease on a route that needs a credential. Throws TypeError on a public one: that is a bug of the route. */
export function leaseOf(admission: Admission): Lease {
  if (!admission.lease) throw new TypeError("a route without a credential asked who is calling");
  return admission.lease;
}

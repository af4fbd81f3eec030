import { extractCredential, type PresentedCredential } from "../../auth/credential.ts";
import type { Lease, RawCredential } from "../../auth/principal.ts";
import type { Refusal } from "../../errors.ts";
import { found, type GatePass, type GateWorld } from "../gate-pass.ts";

/**
 * Who is calling. Finds the route, because its policy says whether anybody asks; refuses only two credentials at once.
 * That there is no lease is for the throttle to count and for the scope step to refuse.
 */
export function checkCredentials(pass: GatePass, world: GateWorld): Refusal | null | Promise<Refusal | null> {
  const { kind, method, headers } = pass.arrival;
  const target = found(pass.target);
  const { credential, rawQuery } = extractCredential(headers, target.rawQuery);
  if (credential.kind === "refused") return credential.refusal;
  pass.handlerQuery = rawQuery;
  pass.route = world.routes.match(method, kind === "upgrade", target);
  if (pass.route.scope.needs === "public") return null;

  const raw = toVerify(credential, kind === "upgrade");
  if (raw === null) return keep(pass, null, credential.kind === "none");
  const verified = world.verifyCredential(raw, found(pass.requestClass));
  if (verified instanceof Promise) return verified.then((lease) => keep(pass, lease, false));
  return keep(pass, verified, false);
}

function keep(pass: GatePass, lease: Lease | null, presentedNothing: boolean): null {
  if (lease !== null && lease.ended === null) pass.lease = lease;
  else pass.failure = presentedNothing ? "nothing_presented" : "not_accepted";
  return null;
}

/** A ticket in a query opens a socket and nothing else; one for a page is traded in the body of `POST /api/pair`. */
function toVerify(credential: PresentedCredential, isUpgrade: boolean): RawCredential | null {
  if (credential.kind === "token") return credential;
  if (credential.kind === "ticket" && isUpgrade) return { ...credential, purpose: "socket" };
  return null;
}

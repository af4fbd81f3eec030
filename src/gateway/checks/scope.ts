import { missingScopes } from "../../auth/scope-table.ts";
import type { Refusal } from "../../errors.ts";
import { found, type GatePass } from "../gate-pass.ts";

const unauthorized: Refusal = Object.freeze({
  code: "unauthorized",
  message: "This needs a valid token. Pair this device (again): sallyport pair shows a code.",
});
const notFound: Refusal = { code: "not_found", message: "There is nothing here. See docs/protocol.md." };
const socketOnly: Refusal = {
  code: "socket_only",
  message:
    "This way leads nowhere: a socket needs a WebSocket upgrade, and everything else must not have one.",
};
const noInput: Readonly<Record<string, unknown>> = Object.freeze({});

/**
 * What the caller may do. Without a credential nothing under /api is told apart. What depends on the body is checked
 * behind the table, when there is a body.
 */
export function checkScope(pass: GatePass): Refusal | null {
  const route = found(pass.route);
  if (route.scope.needs !== "public" && pass.lease === null) return unauthorized;
  if (route.kind === "unknown") return notFound;
  if (route.kind === "wrong_way") return socketOnly;
  if (pass.lease === null) return null;
  const missing = missingScopes(route.scope, pass.lease.scopes, noInput);
  if (missing.length === 0) return null;
  return {
    code: "scope_missing",
    message: `This device lacks the scope ${missing.join(" and ")}. A device with admin can grant it.`,
  };
}

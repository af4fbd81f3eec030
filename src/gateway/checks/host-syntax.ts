import { parseAuthority } from "../../auth/parse-authority.ts";
import type { Refusal } from "../../errors.ts";
import type { GatePass } from "../gate-pass.ts";

const badHost: Refusal = {
  code: "bad_host",
  message:
    "The Host header is missing, repeated or malformed. Send exactly one: a name or address, with an optional port.",
};

/** Exactly one Host, and it is an authority (RFC 9112 §3.2). */
export function checkHostSyntax(pass: GatePass): Refusal | null {
  const { headers } = pass.arrival;
  if (headers.hostLines !== 1) return badHost;
  pass.host = parseAuthority(headers.rawHost);
  return pass.host === null ? badHost : null;
}

import { originAllowed } from "../../auth/origin.ts";
import { portOf, type WebOrigin } from "../../auth/public-address.ts";
import type { Refusal } from "../../errors.ts";
import { found, type GatePass, type GateWorld } from "../gate-pass.ts";

const refused: Refusal = {
  code: "origin_refused",
  message:
    "A page of another origin may not use this daemon. If you trust that page, add its origin to `origins` in config.toml.",
};

/** No web page acts through its visitor's browser unless it is our own or configured. */
export function checkOrigin(pass: GatePass, world: GateWorld): Refusal | null {
  const { headers } = pass.arrival;
  if (headers.originLines === 0 && !headers.crossSite) return null;
  const allowed = originAllowed(headers, ownOrigin(pass), world.policy().origins, () =>
    targetIsPage(pass, world),
  );
  return allowed ? null : refused;
}

function ownOrigin(pass: GatePass): WebOrigin | null {
  const { door, peer } = pass.arrival;
  if (door.kind === "forwarder") return door.publicAddress;
  const authority = found(pass.host);
  const scheme = peer.secure ? "https" : "http";
  return { scheme, authority, port: portOf(scheme, authority) };
}

/** True where browsers treat the page as a secure context: https, as the browser sees it, or a loopback address. */
export function isSecureContext({ arrival: { door, peer }, requestClass }: GatePass): boolean {
  if (requestClass === "local") return true;
  return door.kind === "forwarder" ? door.publicAddress?.scheme === "https" : peer.secure;
}

function targetIsPage(pass: GatePass, world: GateWorld): boolean {
  const { method, kind } = pass.arrival;
  return (
    kind !== "upgrade" && (method === "GET" || method === "HEAD") && world.routes.isPage(found(pass.target))
  );
}

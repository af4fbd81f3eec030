import type { Authority } from "./parse-authority.ts";
import type { RequestClass } from "./principal.ts";

/** `main`, or a door for forwarders. */
export type DoorKind = "main" | "forwarder";

/**
 * `local` only if every sign says so: the main door, a loopback peer, a loopback Host, no evidence of a forwarder. A raw
 * TCP forwarder shows none of these signs, so what arrives at a forwarder's door is remote whatever it says.
 */
export function requestClass(
  door: DoorKind,
  peerIsLoopback: boolean,
  host: Authority,
  forwarded: boolean,
): RequestClass {
  return door === "main" && peerIsLoopback && host.loopback && !forwarded ? "local" : "remote";
}

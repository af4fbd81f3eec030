import type { Authority } from "./parse-authority.ts";
import { type PublicAddress, portOf } from "./public-address.ts";

/** Names as Host headers are compared with: lower case, without a trailing dot. */
export function hostNames(names: Iterable<string>): ReadonlySet<string> {
  return new Set([...names].map((name) => name.toLowerCase().replace(/\.$/, "")));
}

/**
 * The main door answers remote callers under an IP literal, a name of this machine or a configured name. A name of
 * somebody else's that resolves to us is DNS rebinding.
 */
export function mainDoorAnswersTo(host: Authority, names: ReadonlySet<string>): boolean {
  return host.kind !== "name" || names.has(host.host);
}

/** A forwarder's door answers under its public address only; to nothing while it has none. */
export function forwarderDoorAnswersTo(host: Authority, address: PublicAddress | null): boolean {
  return (
    address !== null &&
    host.kind === address.authority.kind &&
    host.host === address.authority.host &&
    portOf(address.scheme, host) === address.port
  );
}

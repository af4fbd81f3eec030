import { type IpAddress, limitKey, parseIp, unmapIpv4 } from "../lib/ip-address.ts";
import { parseAuthority } from "./parse-authority.ts";
import type { HeaderFacts } from "./read-headers.ts";
import type { IsTrustedProxy } from "./trusted-proxies.ts";

/**
 * Where a door learns who is calling: its peer; a header that its provider is known to set; or nowhere, because all its
 * peers are the forwarder itself.
 */
export type AddressSource = "peer" | "cf-connecting-ip" | "last-x-forwarded-for" | "none";

/** The peer of a connection, and its `limitKey`, worked out once. */
export interface PeerAddress {
  /** Null for a Unix socket. */
  readonly address: IpAddress | null;
  readonly limitKey: string | null;
}

/**
 * The address that limits are counted under (an IPv6 /64), or null where none can be trusted. A forwarding header names
 * the client only at a provider's door or behind a trusted proxy, and never makes anything local. Garbage is ignored.
 */
export function clientAddress(
  peer: PeerAddress,
  source: AddressSource,
  isTrustedProxy: IsTrustedProxy,
  facts: HeaderFacts,
): string | null {
  if (source === "cf-connecting-ip")
    return facts.cfConnectingIpLines === 1 ? keyOf(parseHop(facts.rawCfConnectingIp)) : null;
  if (source === "last-x-forwarded-for") return keyOf(lastHop(facts.rawForwardedFor));
  const known = source === "peer" ? peer.limitKey : null;
  if (facts.rawForwardedFor === null || peer.address === null || !isTrustedProxy(peer.address)) return known;
  return keyOf(rightMostUntrusted(facts.rawForwardedFor, isTrustedProxy)) ?? known;
}

function keyOf(address: IpAddress | null): string | null {
  return address && limitKey(address);
}

function lastHop(rawForwardedFor: string | null): IpAddress | null {
  return rawForwardedFor === null
    ? null
    : parseHop(rawForwardedFor.slice(rawForwardedFor.lastIndexOf(",") + 1));
}

/** Each trusted hop vouches for the one before it; the first that is not trusted is the client. */
function rightMostUntrusted(rawForwardedFor: string, isTrustedProxy: IsTrustedProxy): IpAddress | null {
  const hops = rawForwardedFor.split(",");
  for (let at = hops.length - 1; at >= 0; at--) {
    const hop = parseHop(hops[at] ?? "");
    if (hop === null || !isTrustedProxy(hop)) return hop;
  }
  return null;
}

/** `1.2.3.4`, `v6`, and both with a port as some proxies write them. */
function parseHop(raw: string): IpAddress | null {
  const text = raw.trim();
  const bare = parseIp(text);
  if (bare) return unmapIpv4(bare);
  const authority = text.length <= 64 ? parseAuthority(text) : null;
  if (authority === null || authority.kind === "name") return null;
  const address = parseIp(authority.host);
  return address && unmapIpv4(address);
}

import { type Authority, parseAuthority } from "./parse-authority.ts";
import { parseTarget } from "./parse-target.ts";

export type Scheme = "http" | "https";

/** Scheme, host and port: what an Origin header says, with the default port filled in. */
export interface WebOrigin {
  readonly scheme: Scheme;
  readonly authority: Authority;
  readonly port: number;
}

/** The public base of a forwarder's door. */
export interface PublicAddress extends WebOrigin {
  /** Decoded path without a slash at its end; empty at the root. */
  readonly basePath: string;
}

/** The port that an address without one means. */
export function portOf(scheme: Scheme, authority: Authority): number {
  return authority.port ?? (scheme === "https" ? 443 : 80);
}

/** Parses `http(s)://authority` and nothing after it (RFC 6454 §6.2); null for anything else, `null` included. */
export function parseWebOrigin(raw: string): WebOrigin | null {
  const match = /^(https?):\/\/([^/?#@\\]+)$/i.exec(raw);
  if (!match) return null;
  const scheme: Scheme = match[1]?.toLowerCase() === "https" ? "https" : "http";
  const authority = parseAuthority(match[2] ?? "");
  return authority && { scheme, authority, port: portOf(scheme, authority) };
}

/** Parses the public base of a door, e.g. `https://x.example/base/`; null when it is not http(s) or has a query. */
export function parsePublicAddress(raw: string): PublicAddress | null {
  const match = /^([^:]+:\/\/[^/?#]+)(\/[^?#]*)?$/.exec(raw);
  const origin = parseWebOrigin(match?.[1] ?? "");
  if (!origin) return null;
  const rawPath = (match?.[2] ?? "").replace(/\/$/, "");
  if (rawPath === "") return { ...origin, basePath: "" };
  const target = parseTarget(rawPath, 2_048);
  return target && { ...origin, basePath: target.path };
}

/** True when both mean the same scheme, host and port. */
export function sameOrigin(one: WebOrigin, other: WebOrigin): boolean {
  return (
    one.scheme === other.scheme &&
    one.port === other.port &&
    one.authority.kind === other.authority.kind &&
    one.authority.host === other.authority.host
  );
}

import { ipKey, isLoopbackIp, parseIpv4, parseIpv6 } from "../lib/ip-address.ts";

/** A host with an optional port, as a Host header, an Origin or a public address names it. */
export interface Authority {
  readonly kind: "name" | "ipv4" | "ipv6";
  /** Lower case, without a trailing dot, without brackets; an address in one spelling. For comparing. */
  readonly host: string;
  readonly port: number | null;
  /** `localhost`, a dotted quad of 127.0.0.0/8, or a spelling of `[::1]`; nothing else. */
  readonly loopback: boolean;
}

const maxNameLength = 253;
const maxLabelLength = 63;

/**
 * Parses `name`, `1.2.3.4` or `[v6]` with an optional `:port` (RFC 3986 §3.2, without user information); null when
 * malformed. `127.1`, `0x7f.1` and `2130706433` are names here, as they are for DNS: never addresses, never loopback.
 */
export function parseAuthority(raw: string): Authority | null {
  const portAt = raw.startsWith("[") ? raw.indexOf("]") + 1 : raw.indexOf(":");
  const hasPort = portAt > 0 && portAt < raw.length;
  const rawHost = hasPort ? raw.slice(0, portAt) : raw;
  let port: number | null = null;
  if (hasPort) {
    port = parsePort(raw, portAt);
    if (port === null) return null;
  }
  if (rawHost.startsWith("[")) {
    const address = rawHost.endsWith("]") ? parseIpv6(rawHost.slice(1, -1)) : null;
    return address && { kind: "ipv6", host: ipKey(address), port, loopback: isLoopbackIp(address) };
  }
  const address = parseIpv4(rawHost);
  if (address) return { kind: "ipv4", host: rawHost, port, loopback: isLoopbackIp(address) };
  const name = parseName(rawHost);
  return name === null ? null : { kind: "name", host: name, port, loopback: name === "localhost" };
}

/** `raw[at]` must be the colon. One to five digits, 1 to 65535; null otherwise. */
function parsePort(raw: string, at: number): number | null {
  if (raw.charCodeAt(at) !== 0x3a) return null;
  const length = raw.length - at - 1;
  if (length < 1 || length > 5) return null;
  let port = 0;
  for (let digit = at + 1; digit < raw.length; digit++) {
    const code = raw.charCodeAt(digit);
    if (code < 0x30 || code > 0x39) return null;
    port = port * 10 + code - 0x30;
  }
  return port >= 1 && port <= 65_535 ? port : null;
}

/** Labels of letters, digits, `-` and `_`, parted by single dots, with one trailing dot at most (RFC 1123 §2.1). */
function parseName(raw: string): string | null {
  const end = raw.endsWith(".") ? raw.length - 1 : raw.length;
  if (end < 1 || end > maxNameLength) return null;
  let labelLength = 0;
  for (let at = 0; at < end; at++) {
    const code = raw.charCodeAt(at);
    if (code === 0x2e) {
      if (labelLength === 0) return null;
      labelLength = 0;
    } else if (isLabelCode(code)) {
      labelLength += 1;
      if (labelLength > maxLabelLength) return null;
    } else return null;
  }
  return labelLength === 0 ? null : raw.slice(0, end).toLowerCase();
}

function isLabelCode(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2d ||
    code === 0x5f
  );
}

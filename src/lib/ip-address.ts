/** An address as its bytes, so that every spelling of it is the same value. */
export interface IpAddress {
  readonly family: 4 | 6;
  /** 4 or 16 bytes, network order. */
  readonly bytes: readonly number[];
}

/** A dotted quad of four decimal numbers without leading zeros (RFC 6943 §3.1.1, "strict"); anything else is null. */
export function parseIpv4(raw: string): IpAddress | null {
  if (raw.length < 7 || raw.length > 15) return null;
  const bytes: number[] = [];
  let value = -1;
  let digits = 0;
  for (let at = 0; at <= raw.length; at++) {
    const code = at === raw.length ? 0x2e : raw.charCodeAt(at);
    if (code === 0x2e) {
      if (digits === 0 || value > 255) return null;
      bytes.push(value);
      value = -1;
      digits = 0;
    } else if (code >= 0x30 && code <= 0x39) {
      if (value === 0) return null;
      value = digits === 0 ? code - 0x30 : value * 10 + code - 0x30;
      digits += 1;
      if (digits > 3) return null;
    } else return null;
  }
  return bytes.length === 4 ? { family: 4, bytes } : null;
}

/**
 * Any spelling of RFC 4291 §2.2, without brackets and without a zone; anything else is null. Our own because ipaddr.js
 * reads `::0.0.0.1` as another address and takes octal quads.
 */
export function parseIpv6(raw: string): IpAddress | null {
  if (raw.length < 2 || raw.length > 45) return null;
  const halves = raw.split("::");
  if (halves.length > 2) return null;
  const head = parseGroups(halves[0] ?? "", halves.length === 1);
  if (head === null) return null;
  if (halves.length === 1) return head.length === 16 ? { family: 6, bytes: head } : null;
  const tail = parseGroups(halves[1] ?? "", true);
  // "::" stands for one group of zeros at least.
  if (tail === null || head.length + tail.length > 14) return null;
  const zeros = new Array<number>(16 - head.length - tail.length).fill(0);
  return { family: 6, bytes: [...head, ...zeros, ...tail] };
}

/** An IP literal of either family, without brackets. */
export function parseIp(raw: string): IpAddress | null {
  return raw.includes(":") ? parseIpv6(raw) : parseIpv4(raw);
}

/** `::ffff:a.b.c.d` is what a dual-stack socket calls an IPv4 peer: the IPv4 address; any other address as it is. */
export function unmapIpv4(address: IpAddress): IpAddress {
  if (address.family === 4) return address;
  const { bytes } = address;
  for (let at = 0; at < 10; at++) if (bytes[at] !== 0) return address;
  return bytes[10] === 0xff && bytes[11] === 0xff ? { family: 4, bytes: bytes.slice(12) } : address;
}

/** What the system calls a peer: the zone is dropped and an IPv4-mapped address is IPv4. */
export function parsePeerAddress(raw: string | undefined): IpAddress | null {
  if (raw === undefined) return null;
  const zone = raw.indexOf("%");
  const address = parseIp(zone === -1 ? raw : raw.slice(0, zone));
  return address && unmapIpv4(address);
}

/** `127.0.0.0/8` or `::1`. An IPv4-mapped address counts only after `unmapIpv4`. */
export function isLoopbackIp(address: IpAddress): boolean {
  const { bytes } = address;
  if (address.family === 4) return bytes[0] === 127;
  for (let at = 0; at < 15; at++) if (bytes[at] !== 0) return false;
  return bytes[15] === 1;
}

/** One text for one address: a dotted quad, or eight groups without leading zeros. For comparing, not for showing. */
export function ipKey(address: IpAddress): string {
  if (address.family === 4) return address.bytes.join(".");
  return groups(address.bytes, 8).join(":");
}

/**
 * What limits are counted under: an IPv4 address, or the /64 of an IPv6 address (one host has all of it, RFC 4291 §2.5.1).
 * Loopback stays whole.
 */
export function limitKey(address: IpAddress): string {
  if (isLoopbackIp(address)) return address.family === 4 ? "127.0.0.1" : "::1";
  return address.family === 4 ? ipKey(address) : `${groups(address.bytes, 4).join(":")}::/64`;
}

function groups(bytes: readonly number[], count: number): string[] {
  return Array.from({ length: count }, (_, at) =>
    (((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0)).toString(16),
  );
}

/** Groups of hex digits as bytes; a dotted quad may stand last. An empty text has no groups. */
function parseGroups(raw: string, mayEndInQuad: boolean): number[] | null {
  if (raw === "") return [];
  const bytes: number[] = [];
  const parts = raw.split(":");
  for (const [at, part] of parts.entries()) {
    if (part.includes(".")) {
      const quad = mayEndInQuad && at === parts.length - 1 ? parseIpv4(part) : null;
      if (quad === null) return null;
      bytes.push(...quad.bytes);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(part)) return null;
      const group = Number.parseInt(part, 16);
      bytes.push(group >> 8, group & 0xff);
    }
  }
  return bytes.length <= 16 ? bytes : null;
}

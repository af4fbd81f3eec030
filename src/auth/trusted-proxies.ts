import { type IpAddress, parseIp, unmapIpv4 } from "../lib/ip-address.ts";

export type IsTrustedProxy = (address: IpAddress) => boolean;

interface Range {
  readonly address: IpAddress;
  readonly prefixBits: number;
}

/** Makes a matcher from addresses and CIDR ranges. Throws TypeError for one that is neither: the configuration was checked. */
export function trustedProxies(entries: readonly string[]): IsTrustedProxy {
  const ranges = entries.map(parseRange);
  return (address) => ranges.some((range) => contains(range, address));
}

function parseRange(entry: string): Range {
  const slashAt = entry.indexOf("/");
  const address = parseIp(slashAt === -1 ? entry : entry.slice(0, slashAt));
  if (!address) throw new TypeError(`trusted_proxies: "${entry}" is neither an IP address nor a range`);
  const bits = address.bytes.length * 8;
  if (slashAt === -1) return { address: unmapIpv4(address), prefixBits: unmapIpv4(address).bytes.length * 8 };
  const rawPrefix = entry.slice(slashAt + 1);
  const prefixBits = /^\d{1,3}$/.test(rawPrefix) ? Number(rawPrefix) : Number.NaN;
  if (!(prefixBits >= 0 && prefixBits <= bits))
    throw new TypeError(`trusted_proxies: "${entry}" has no valid prefix length`);
  return { address, prefixBits };
}

function contains(range: Range, address: IpAddress): boolean {
  if (range.address.family !== address.family) return false;
  let bits = range.prefixBits;
  for (let at = 0; bits > 0; at++, bits -= 8) {
    const mask = bits >= 8 ? 0xff : (0xff << (8 - bits)) & 0xff;
    if (((range.address.bytes[at] ?? 0) & mask) !== ((address.bytes[at] ?? 0) & mask)) return false;
  }
  return true;
}

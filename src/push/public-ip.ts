import { type IpAddress, unmapIpv4 } from "../lib/ip-address.ts";

/** First bytes and number of bits, with the reason: the special-purpose registries of RFC 6890, as IANA keeps them. */
type Block = readonly [bytes: readonly number[], bits: number, why: string];

const specialIpv4: readonly Block[] = [
  [[0], 8, "this network"],
  [[10], 8, "private"],
  [[100, 64], 10, "shared by a carrier's customers"],
  [[127], 8, "loopback"],
  [[169, 254], 16, "link-local: metadata services of clouds"],
  [[172, 16], 12, "private"],
  [[192, 0, 0], 24, "protocol assignments"],
  [[192, 0, 2], 24, "documentation"],
  [[192, 31, 196], 24, "AS112"],
  [[192, 52, 193], 24, "AMT"],
  [[192, 88, 99], 24, "6to4 relays"],
  [[192, 168], 16, "private"],
  [[192, 175, 48], 24, "AS112"],
  [[198, 18], 15, "benchmarks"],
  [[198, 51, 100], 24, "documentation"],
  [[203, 0, 113], 24, "documentation"],
  [[224], 3, "multicast, reserved, broadcast"],
];

/** Outside of these is what 2000::/3 does not cover: loopback, IPv4-compatible, ULA, link-local, site-local, multicast. */
const globalIpv6: Block = [[0x20], 3, "global unicast"];
const specialIpv6: readonly Block[] = [
  [[0x20, 0x01, 0x00], 23, "protocol assignments: Teredo, ORCHID, benchmarks"],
  [[0x20, 0x01, 0x0d, 0xb8], 32, "documentation"],
  [[0x20, 0x02], 16, "6to4: leads to any IPv4 address"],
  [[0x26, 0x20, 0x00, 0x4f, 0x80, 0x00], 48, "AS112"],
  [[0x3f, 0xff], 20, "documentation"],
];
/** What a DNS64 makes of an IPv4 address (RFC 6052 §2.1): as public as that is. */
const nat64: Block = [[0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], 96, "NAT64"];

/** True for an address that machines of the whole internet share, so that a request to it reaches nothing of this network. */
export function isPublicIp(given: IpAddress): boolean {
  const address = unmapIpv4(given);
  if (address.family === 4) return !specialIpv4.some((block) => isIn(address, block));
  if (isIn(address, nat64)) return isPublicIp({ family: 4, bytes: address.bytes.slice(12) });
  return isIn(address, globalIpv6) && !specialIpv6.some((block) => isIn(address, block));
}

function isIn({ bytes }: IpAddress, [first, bits]: Block): boolean {
  for (let at = 0; at * 8 < bits; at++) {
    const mask = bits - at * 8 >= 8 ? 0xff : (0xff << (8 - (bits - at * 8))) & 0xff;
    if (((bytes[at] ?? 0) & mask) !== ((first[at] ?? 0) & mask)) return false;
  }
  return true;
}

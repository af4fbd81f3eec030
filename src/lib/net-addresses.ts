import type { NetworkInterfaceInfo } from "node:os";
import ipaddr from "ipaddr.js";

export interface LanAddress {
  readonly interfaceName: string;
  readonly family: 4 | 6;
  /** Canonical text without zone and without brackets. */
  readonly address: string;
}

export type InterfaceTable = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/**
 * Interfaces that no other machine is behind: bridges and pairs of containers and virtual machines, and the links that
 * phones and laptops keep among themselves.
 */
const virtualInterface =
  /^(lo\d*|docker.*|br-.*|veth.*|virbr.*|vnet.*|cni.*|flannel.*|cali.*|cilium.*|kube.*|nodelocaldns.*|lxc.*|lxd.*|incusbr.*|podman.*|nerdctl.*|vmnet.*|vboxnet.*|vEthernet.*|waydroid.*|anbox.*|dummy.*|bridge1\d\d|awdl.*|llw.*|anpi.*|ap\d+)$/i;

const wiredOrWireless = /^(en|eth|wl|wlan|em|ethernet|wi-?fi)/i;

/** Kinds of address that no other machine reaches. Ranges reserved for other uses stay: if one is set here, a network uses it. */
const unreachableRanges = new Set(["loopback", "linkLocal", "multicast", "broadcast", "unspecified"]);

/**
 * The addresses of this machine that others on its networks could use, best first: IPv4 before IPv6, wired and wireless
 * before VPNs, private before public. Container bridges, loopback and link-local are left out.
 *
 * @param interfaces what `os.networkInterfaces()` returns: it lists only interfaces that are up and running
 */
export function lanAddresses(interfaces: InterfaceTable): readonly LanAddress[] {
  const found: { readonly rank: number; readonly entry: LanAddress }[] = [];
  const seen = new Set<string>();
  for (const [interfaceName, infos] of Object.entries(interfaces)) {
    if (virtualInterface.test(interfaceName)) continue;
    for (const info of infos ?? []) {
      if (info.internal) continue;
      const parsed = parseAddress(info.address);
      if (!parsed || unreachableRanges.has(parsed.range())) continue;
      const family = parsed.kind() === "ipv4" ? 4 : 6;
      const address =
        family === 4 ? parsed.toString() : ipaddr.IPv6.parse(parsed.toString()).toRFC5952String();
      if (seen.has(address)) continue;
      seen.add(address);
      found.push({ rank: rankOf(interfaceName, parsed), entry: { interfaceName, family, address } });
    }
  }
  return found.sort((a, b) => a.rank - b.rank).map(({ entry }) => entry);
}

/** The host part of a URL: an IPv6 literal gets its brackets (RFC 3986, 3.2.2). */
export function urlHost(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

function parseAddress(rawAddress: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const withoutZone = rawAddress.split("%")[0] ?? "";
  return ipaddr.isValid(withoutZone) ? ipaddr.process(withoutZone) : null;
}

function rankOf(interfaceName: string, address: ipaddr.IPv4 | ipaddr.IPv6): number {
  const range = address.range();
  return (
    (address.kind() === "ipv4" ? 0 : 100) +
    (wiredOrWireless.test(interfaceName) ? 0 : 10) +
    (range === "carrierGradeNat" ? 5 : 0) +
    (range === "private" || range === "uniqueLocal" ? 0 : 1)
  );
}

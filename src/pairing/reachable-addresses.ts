import ipaddr from "ipaddr.js";
import { type InterfaceTable, lanAddresses, urlHost } from "../lib/net-addresses.ts";
import type { Access, AddressKind } from "../protocol/objects.ts";

/** A base address without a trailing slash: `<base>/#pair=<code>`, `<base>/api/hello`. */
export interface ReachableAddress {
  readonly kind: AddressKind;
  readonly address: string;
}

export interface Reach {
  readonly access: Access;
  /** Public bases of what arrives at doors: the tunnel that is up first, then the doors of the configuration. */
  readonly doorUrls: readonly string[];
  /** Addresses that the main door listens on: IP literals, `0.0.0.0` or `::` for all. */
  readonly boundHosts: readonly string[];
  readonly port: number;
  /** What a client on the LAN must speak. */
  readonly lanScheme: "http" | "https";
  /** The address on this machine, as `daemon.json` names it. */
  readonly localUrl: string;
  /** `os.networkInterfaces()` */
  readonly interfaces: InterfaceTable;
}

const maxLanAddresses = 8;

/** The addresses that a client could use at this moment, best first: tunnel and doors, LAN, this machine. */
export function reachableAddresses(reach: Reach): readonly ReachableAddress[] {
  const doors = reach.access === "off" ? [] : reach.doorUrls;
  const lan = reach.access === "on" ? lanHosts(reach) : [];
  return [
    ...unique(doors.map(withoutSlash)).map((address) => ({ kind: "tunnel" as const, address })),
    ...lan.map((host) => ({
      kind: "lan" as const,
      address: `${reach.lanScheme}://${urlHost(host)}:${reach.port}`,
    })),
    { kind: "local", address: withoutSlash(reach.localUrl) },
  ];
}

function lanHosts(reach: Reach): readonly string[] {
  const all = lanAddresses(reach.interfaces);
  const hosts = reach.boundHosts.flatMap((bound) => {
    if (bound === "::") return all.map(({ address }) => address);
    if (bound === "0.0.0.0") return all.filter(({ family }) => family === 4).map(({ address }) => address);
    return isLoopback(bound) ? [] : [bound];
  });
  return unique(hosts).slice(0, maxLanAddresses);
}

function isLoopback(host: string): boolean {
  return ipaddr.isValid(host) ? ipaddr.process(host).range() === "loopback" : host === "localhost";
}

const unique = (values: readonly string[]): string[] => [...new Set(values)];

const withoutSlash = (url: string): string => url.replace(/\/+$/, "");

import { isIP } from "node:net";
import { type LanAddress, urlHost } from "../lib/net-addresses.ts";
import type { Access, AddressKind, Remote, Tunnel } from "../protocol/objects.ts";

export interface RemoteFacts {
  readonly access: Access;
  /** Port of the main door. */
  readonly port: number;
  /** What the main door binds when access is on; null: all interfaces. */
  readonly host: string | null;
  /** `host:port` of every socket that the main door listens on. */
  readonly bound: readonly string[];
  readonly hasTls: boolean;
  readonly lan: readonly LanAddress[];
  /** Public addresses of open doors, a running tunnel's first. */
  readonly doorUrls: readonly string[];
  readonly tunnel: Tunnel;
  readonly devices: number;
}

export interface UsableAddress {
  readonly kind: AddressKind;
  /** Base without a slash at its end. */
  readonly address: string;
}

export const noTunnel: Tunnel = {
  provider: null,
  state: "off",
  url: null,
  text: null,
  link: null,
  reason: null,
  next_try: null,
};

/** What `GET /api/remote` answers and the `remote` change carries. */
export function remoteView(facts: RemoteFacts): Remote {
  return {
    access: facts.access,
    bound: [...facts.bound],
    addresses: othersAddresses(facts).map((usable) => ({ ...usable })),
    tunnel: facts.tunnel,
    devices: facts.devices,
  };
}

/** The addresses under which other machines can reach this daemon as things are now, best first. */
export function othersAddresses(facts: RemoteFacts): readonly UsableAddress[] {
  if (facts.access === "off") return [];
  const doors = [...new Set(facts.doorUrls)].map((address): UsableAddress => ({ kind: "tunnel", address }));
  if (facts.access === "tunnel") return doors;
  const scheme = facts.hasTls ? "https" : "http";
  const lan = lanHosts(facts).map(
    (host): UsableAddress => ({ kind: "lan", address: `${scheme}://${urlHost(host)}:${facts.port}` }),
  );
  return [...doors, ...lan];
}

/** The same with this machine's own address last: what a pairing code is offered under. */
export function offerAddresses(facts: RemoteFacts): readonly UsableAddress[] {
  return [...othersAddresses(facts), { kind: "local", address: `http://127.0.0.1:${facts.port}` }];
}

function lanHosts({ host, lan }: RemoteFacts): readonly string[] {
  if (host === null || host === "0.0.0.0" || host === "::")
    return lan.filter(({ family }) => host !== "0.0.0.0" || family === 4).map(({ address }) => address);
  return isLoopback(host) ? [] : [host];
}

/** Whether binding this name keeps the main door off the network. */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase().replace(/\.$/, "") === "localhost" || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}

import type { ReachableAddress } from "../pairing/reachable-addresses.ts";
import type { Access, Remote, Tunnel } from "../protocol/objects.ts";

export interface RemoteFacts {
  readonly access: Access;
  /** `host:port` of every socket that the main door listens on. */
  readonly bound: readonly string[];
  /** Best first; this machine's own address among them. */
  readonly reachable: readonly ReachableAddress[];
  readonly tunnel: Tunnel;
  readonly devices: number;
}

/** What `GET /api/remote` answers and the `remote` change carries. `addresses` are those that others can use. */
export function remoteView(facts: RemoteFacts): Remote {
  return {
    access: facts.access,
    bound: [...facts.bound],
    addresses: facts.reachable
      .filter(({ kind }) => kind !== "local")
      .map(({ kind, address }) => ({ kind, address })),
    tunnel: facts.tunnel,
    devices: facts.devices,
  };
}

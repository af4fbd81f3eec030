import type { Access, AddressKind, Remote } from "../../src/protocol/objects.ts";

export const accessWords: Readonly<Record<Access, { readonly title: string; readonly meaning: string }>> = {
  off: { title: "Off", meaning: "Only programs on the daemon's machine reach it." },
  tunnel: { title: "Tunnel", meaning: "Only what comes through a tunnel or a door of its own reaches it." },
  on: { title: "Network", meaning: "Devices in the same network reach it too." },
};

export const kindWords: Readonly<Record<AddressKind, string>> = {
  tunnel: "from anywhere",
  lan: "in this network",
  local: "on the machine itself",
};

/** True when what devices of the network send can be read by others there. */
export function isReadableByTheNetwork({ access, addresses }: Pick<Remote, "access" | "addresses">): boolean {
  return (
    access === "on" && addresses.some(({ kind, address }) => kind === "lan" && address.startsWith("http:"))
  );
}

/** Whether a page at `base` is cut off when access becomes `next`. A door may be on this machine: what comes there is remote. */
export function cutsOff(base: string, next: Access, remote: Pick<Remote, "addresses">): boolean {
  const { origin, hostname } = new URL(base);
  const known = remote.addresses.find(({ address }) => new URL(address).origin === origin)?.kind;
  const isLoopback = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  const kind = known ?? (isLoopback ? "local" : "lan");
  return kind !== "local" && (next === "off" || (next === "tunnel" && kind === "lan"));
}

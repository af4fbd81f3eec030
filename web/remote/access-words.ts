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

/** Whether a page at `base` is cut off when access becomes `next`. */
export function cutsOff(base: string, next: Access, remote: Pick<Remote, "addresses" | "tunnel">): boolean {
  const { origin, hostname } = new URL(base);
  if (hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.")) return false;
  if (next === "off") return true;
  const isTunnel = remote.addresses.some(
    ({ kind, address }) => kind === "tunnel" && new URL(address).origin === origin,
  );
  return next === "tunnel" && !isTunnel;
}

import { networkInterfaces } from "node:os";
import type { Door } from "../gateway/doors.ts";
import { type ReachableAddress, reachableAddresses } from "../pairing/reachable-addresses.ts";
import type { Access, Remote, Tunnel } from "../protocol/objects.ts";
import { remoteView } from "./remote-view.ts";

export interface RemoteInfoOptions {
  readonly door: Pick<Door, "bound" | "port">;
  readonly hasTls: () => boolean;
  readonly access: () => Access;
  readonly doorUrls: () => readonly string[];
  readonly devices: () => number;
  readonly tunnel: () => Tunnel;
  /** Tells all clients. */
  readonly announce: (remote: Remote) => void;
  /** How often to look for other addresses of this machine while the network is let in. */
  readonly lookMs: number;
}

export interface RemoteInfo {
  /** As it was when something last changed: cheap. */
  current(): Remote;
  addresses(): readonly ReachableAddress[];
  /** Something may have changed: looks, and announces what did. */
  refresh(): void;
  close(): void;
}

/** What there is to know of remote access, worked out when something changes and not for each request. */
export function createRemoteInfo(options: RemoteInfoOptions): RemoteInfo {
  const port = options.door.port ?? 0;

  function addresses(): readonly ReachableAddress[] {
    return reachableAddresses({
      access: options.access(),
      doorUrls: options.doorUrls(),
      boundHosts: options.door.bound.map(hostOf),
      port,
      lanScheme: options.hasTls() ? "https" : "http",
      localUrl: `http://127.0.0.1:${port}`,
      interfaces: networkInterfaces(),
    });
  }

  const look = (): Remote =>
    remoteView({
      access: options.access(),
      bound: options.door.bound,
      reachable: addresses(),
      tunnel: options.tunnel(),
      devices: options.devices(),
    });

  let current = look();
  let told = JSON.stringify(current);

  function refresh(): void {
    current = look();
    const text = JSON.stringify(current);
    if (text === told) return;
    told = text;
    options.announce(current);
  }

  const timer = setInterval(() => {
    if (options.access() === "on") refresh();
  }, options.lookMs);
  timer.unref();

  return { current: () => current, addresses, refresh, close: () => clearInterval(timer) };
}

/** `[::]:7700` -> `::`. */
function hostOf(bound: string): string {
  return bound.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
}

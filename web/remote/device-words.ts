import type { Device } from "../../src/protocol/objects.ts";
import type { IconName } from "../ui/icon-paths.ts";

/** The picture for a kind of device. */
export function deviceIcon(kind: string): IconName {
  return kind === "phone" || kind === "tablet" ? "phone" : "laptop";
}

/** The device of this page first, then those that are connected, then the last seen. */
export function sortDevices(devices: readonly Device[]): readonly Device[] {
  const rank = (device: Device): number => (device.current ? 2 : device.connected > 0 ? 1 : 0);
  return [...devices].sort(
    (a, b) => rank(b) - rank(a) || (b.last_seen ?? b.created).localeCompare(a.last_seen ?? a.created),
  );
}

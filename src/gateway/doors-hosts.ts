import type { Access } from "../protocol/objects.ts";

/** An address to bind. `whenMissing` says what to do when this machine has no such address: skip it, or bind another. */
export interface Bind {
  readonly host: string;
  readonly whenMissing: "fail" | "skip" | { readonly bind: string };
}

const loopback: readonly Bind[] = [
  { host: "127.0.0.1", whenMissing: "fail" },
  { host: "::1", whenMissing: "skip" },
];

/**
 * What the main door binds: loopback, and with access `on` all interfaces, or the configured address beside loopback.
 *
 * @param configuredHost `host` of the configuration; null: all interfaces
 */
export function mainDoorBinds(access: Access, configuredHost: string | null): readonly Bind[] {
  if (access !== "on") return loopback;
  switch (configuredHost) {
    case null:
    case "::":
      // Takes IPv4 as well, as IPv4-mapped peers; without IPv6 there is only the other wildcard.
      return [{ host: "::", whenMissing: { bind: "0.0.0.0" } }];
    case "0.0.0.0":
      return [
        { host: "0.0.0.0", whenMissing: "fail" },
        { host: "::1", whenMissing: "skip" },
      ];
    case "localhost":
    case "127.0.0.1":
    case "::1":
      return loopback;
    default:
      return [...loopback, { host: configuredHost, whenMissing: "fail" }];
  }
}

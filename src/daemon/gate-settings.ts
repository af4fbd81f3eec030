import type { Config } from "../config/config.ts";
import type { GateSettings } from "../gateway/gate-server.ts";
import { machineNames } from "./machine-names.ts";

/** What the gate needs of the configuration, and of this machine. */
export function gateSettings(config: Config): GateSettings {
  return {
    hosts: config.hosts,
    machineNames: machineNames(),
    origins: config.origins,
    trustedProxies: config.trustedProxies,
  };
}

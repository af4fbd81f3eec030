import { forwarderDoorAnswersTo, mainDoorAnswersTo } from "../../auth/host-name.ts";
import type { Refusal } from "../../errors.ts";
import { found, type GatePass, type GateWorld } from "../gate-pass.ts";

const notOurName: Refusal = {
  code: "host_refused",
  message:
    "This daemon does not answer to that host name. If the name is right, add it to `hosts` in its config.toml; a proxy or tunnel must point at a door of its own ([[door]]), never at this port.",
};
const notThisDoor: Refusal = {
  code: "host_refused",
  message:
    "This door answers to its public address only. Let the proxy pass the Host header on, and set `url` of its [[door]] in config.toml to the address that clients use.",
};

/** No name of somebody else's leads here (DNS rebinding). A local request has a loopback name already. */
export function checkHostName(pass: GatePass, world: GateWorld): Refusal | null {
  const { door } = pass.arrival;
  const host = found(pass.host);
  if (door.kind === "forwarder") return forwarderDoorAnswersTo(host, door.publicAddress) ? null : notThisDoor;
  if (pass.requestClass === "local") return null;
  return mainDoorAnswersTo(host, world.policy().hostNames) ? null : notOurName;
}

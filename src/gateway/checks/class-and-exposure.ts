import { exposureAdmits } from "../../auth/exposure.ts";
import { requestClass } from "../../auth/request-class.ts";
import type { Refusal } from "../../errors.ts";
import { found, type GatePass, type GateWorld } from "../gate-pass.ts";

const remoteOff: Refusal = {
  code: "remote_off",
  message: "Remote access is off on this daemon. On its machine run: sallyport remote on",
};
const remoteDoorsOnly: Refusal = {
  code: "remote_off",
  message:
    "This daemon is reached through its tunnel only. To let the network in, run on its machine: sallyport remote on",
};

/** Local or remote; and nothing remote while it is not wanted, the page included. */
export function checkClassAndExposure(pass: GatePass, world: GateWorld): Refusal | null {
  const { door, peer, headers } = pass.arrival;
  pass.requestClass = requestClass(door.kind, peer.loopback, found(pass.host), headers.forwarded);
  if (pass.requestClass === "local") return null;
  const access = world.access();
  if (exposureAdmits(access, door.kind)) return null;
  return access === "tunnel" ? remoteDoorsOnly : remoteOff;
}

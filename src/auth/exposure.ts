import type { Access } from "../protocol/objects.ts";
import type { DoorKind } from "./request-class.ts";

/** Whether remote requests are let in at a door: nowhere, at forwarders' doors only, or everywhere. Local ones always are. */
export function exposureAdmits(access: Access, door: DoorKind): boolean {
  if (access === "on") return true;
  return access === "tunnel" && door === "forwarder";
}

import { Compile } from "typebox/compile";
import { onTestFinished } from "vitest";
import type { AuditEvent } from "../../../src/auth/audit.ts";
import type { Lease, RequestClass } from "../../../src/auth/principal.ts";
import type { Route, RouteAnswer } from "../../../src/gateway/route.ts";
import { createDeviceAuthority, type DeviceAuthority } from "../../../src/pairing/device-authority.ts";
import type { Scope } from "../../../src/protocol/scopes.ts";
import { type FakeClock, fakeClock, temporaryHome } from "../../pairing/fakes.ts";

export interface World {
  readonly authority: DeviceAuthority;
  readonly clock: FakeClock;
  readonly events: AuditEvent[];
  /** Makes the disk refuse `devices.json`. */
  readonly disk: { refuses: boolean };
}

export async function createWorld(): Promise<World> {
  const paths = await temporaryHome();
  const clock = fakeClock();
  const disk = { refuses: false };
  const authority = await createDeviceAuthority({
    paths,
    fixedMasterToken: null,
    clock,
    onDevicesChanged: () => undefined,
    onMasterRotated: () => undefined,
    onProblem: () => undefined,
    writeFile: async () => {
      if (disk.refuses) throw Object.assign(new Error("full"), { code: "ENOSPC" });
    },
  });
  onTestFinished(() => authority.close());
  return { authority, clock, events: [], disk };
}

/** Pairs a device with these scopes and returns its lease. */
export async function pairedWith(
  { authority }: World,
  scopes: readonly Scope[],
  name = "Pixel phone",
  expiresDays: number | null = null,
): Promise<{ readonly id: string; readonly token: string; readonly lease: Lease }> {
  const { code } = authority.codes.mint({ minter: authority.master.lease, scopes, expiresDays });
  const request = { rawCode: code, nonce: null, rawName: name, kind: null, requestClass: "remote" } as const;
  const { token, device } = await authority.pairing.byCode(request);
  const lease = authority.devices.get(device.id)?.lease;
  if (!lease) throw new Error("not paired");
  return { id: device.id, token, lease };
}

export interface Call {
  readonly lease?: Lease | null;
  readonly requestClass?: RequestClass;
  readonly params?: Record<string, string>;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** Calls the route `METHOD path` as the gateway does: schemas first. What they refuse rejects with `schema`. */
export async function call(routes: readonly Route[], key: string, made: Call = {}): Promise<RouteAnswer> {
  const found = routes.find((route) => `${route.method} ${route.path}` === key);
  if (!found) throw new Error(`no route ${key}`);
  const { query = {}, body = {}, requestClass = "remote", lease = null, params = {} } = made;
  for (const [schema, value] of [
    [found.query, query],
    [found.body, body],
  ] as const)
    if (schema && !Compile(schema).Check(value)) throw Object.assign(new Error("schema"), { code: "schema" });
  const admission = { requestClass, door: "main", clientAddress: null, lease };
  return found.handle({ admission, params, query, body });
}

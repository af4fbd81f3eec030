import { Type } from "typebox";
import type { AuditSink } from "../../auth/audit.ts";
import type { Lease } from "../../auth/principal.ts";
import { routeScopes } from "../../auth/scope-table.ts";
import { SallyportError } from "../../errors.ts";
import { parseDeviceName } from "../../pairing/device-name.ts";
import { type DeviceRegistry, type RegisteredDevice, toPairedDevice } from "../../pairing/device-registry.ts";
import {
  assertLive,
  byOf,
  enforce,
  isSelf,
  patchRefusal,
  revokeRefusal,
} from "../../pairing/device-rules.ts";
import { limits } from "../../protocol/limits.ts";
import type { Device } from "../../protocol/objects.ts";
import { DeviceSchema } from "../../protocol/objects.ts";
import { DeviceListSchema } from "../../protocol/rest-answers.ts";
import { ScopeSchema } from "../../protocol/scopes.ts";
import { leaseOf } from "../lease-of.ts";
import { type Route, route } from "../route.ts";
import { workSettled } from "../work-in-flight.ts";

export interface DeviceDeps {
  readonly devices: DeviceRegistry;
  /** How many sockets a device has open. */
  readonly connected: (device: string) => number;
  readonly audit: AuditSink;
}

const PatchBody = Type.Object({
  name: Type.Optional(Type.String()),
  scopes: Type.Optional(Type.Array(ScopeSchema, { minItems: 1, maxItems: 16 })),
});

/** `GET`, `PATCH` and `DELETE /api/devices`: who is paired, with what; every device sees the list and may leave it. */
export function deviceRoutes(deps: DeviceDeps): readonly Route[] {
  const { devices, audit } = deps;

  function row({ stored }: RegisteredDevice, caller: Lease): Device {
    return {
      ...toPairedDevice(stored),
      last_seen: stored.last_seen,
      connected: deps.connected(stored.id),
      current: isSelf(caller, stored.id),
    };
  }

  function target(id: string | undefined): RegisteredDevice {
    const device = id === undefined ? undefined : devices.list().find(({ stored }) => stored.id === id);
    if (!device)
      throw new SallyportError("not_found", "No such device is paired. See the list: sallyport devices");
    return device;
  }

  return [
    route({
      method: "GET",
      path: "/api/devices",
      scope: routeScopes["GET /api/devices"],
      summary: "The paired devices",
      response: DeviceListSchema,
      etag: true,
      handle: ({ admission }) => {
        const caller = leaseOf(admission);
        return { body: { devices: devices.list().map((device) => row(device, caller)) } };
      },
    }),
    route({
      method: "PATCH",
      path: "/api/devices/:id",
      scope: routeScopes["PATCH /api/devices/:id"],
      summary: "Renames a device or changes its scopes",
      response: DeviceSchema,
      body: PatchBody,
      handle: async ({ admission, params, body }) => {
        const caller = leaseOf(admission);
        assertLive(caller);
        if (body.name === undefined && body.scopes === undefined)
          throw new SallyportError("invalid_field", "Send a new name, or scopes, or both.", {
            field: "name",
          });
        const before = target(params.id);
        const { id } = before.stored;
        const name = body.name === undefined ? undefined : parseDeviceName(body.name);
        const patch = {
          ...(name === undefined ? {} : { name }),
          ...(body.scopes ? { scopes: body.scopes } : {}),
        };
        enforce(patchRefusal(caller, { id, scopes: before.lease.scopes }, patch));
        const by = byOf(caller);
        const saved = devices.update(id, patch);
        const after = target(id);
        if (after.stored.name !== before.stored.name)
          audit({ type: "device_renamed", device: id, from: before.stored.name, to: after.stored.name, by });
        if (after.stored.scopes.join() !== before.stored.scopes.join())
          audit({
            type: "device_rescoped",
            device: id,
            from: before.stored.scopes,
            to: after.stored.scopes,
            by,
          });
        await saved;
        return { body: row(target(id), caller) };
      },
    }),
    route({
      method: "DELETE",
      path: "/api/devices/:id",
      scope: routeScopes["DELETE /api/devices/:id"],
      summary: "Revokes a device; its sockets close",
      handle: async ({ admission, params }) => {
        const caller = leaseOf(admission);
        assertLive(caller);
        const { stored, lease } = target(params.id);
        const { id, name } = stored;
        enforce(revokeRefusal(caller, id));
        const by = byOf(caller);
        // The reply to one's own end leaves before one's sockets are closed.
        const ended = devices.revoke(id, { announceLater: isSelf(caller, id) });
        audit({ type: "device_revoked", device: id, name, by });
        // When it is said that another is out, nothing of what he asked for is still to come.
        const settled = isSelf(caller, id) ? null : workSettled(lease, limits.revokeGraceMs);
        try {
          const { announce } = await ended;
          return { status: 204, afterSent: announce };
        } finally {
          await settled;
        }
      },
    }),
  ];
}

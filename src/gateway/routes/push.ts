import type { Lease } from "../../auth/principal.ts";
import { routeScopes } from "../../auth/scope-table.ts";
import { SallyportError } from "../../errors.ts";
import { assertLive } from "../../pairing/device-rules.ts";
import {
  type PushMessage,
  PushMessageSchema,
  type PushState,
  PushStateSchema,
  type PushSubscribe,
  PushSubscribeSchema,
  type PushSubscription,
  PushSubscriptionSchema,
} from "../../protocol/push.ts";
import { leaseOf } from "../lease-of.ts";
import { type Route, route } from "../route.ts";

export interface PushRouteOptions {
  /** Null: for the master, which has no subscriptions. */
  readonly state: (device: string | null) => Promise<PushState>;
  readonly subscribe: (device: string, raw: PushSubscribe) => Promise<PushSubscription>;
  readonly unsubscribe: (device: string, id: string) => Promise<void>;
  readonly message: (device: string, id: string) => Promise<PushMessage>;
}

/** `/api/push…`: notifications of the calling device, and of no other (docs/protocol.md, "Push"). */
export function pushRoutes(push: PushRouteOptions): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/push",
      scope: routeScopes["GET /api/push"],
      summary: "Whether this device gets notifications, and the key to subscribe with",
      response: PushStateSchema,
      handle: async ({ admission }) => ({ body: await push.state(deviceOf(leaseOf(admission))) }),
    }),
    route({
      method: "POST",
      path: "/api/push",
      scope: routeScopes["POST /api/push"],
      summary: "Subscribes this device's browser, or changes what it is told",
      response: PushSubscriptionSchema,
      body: PushSubscribeSchema,
      handle: async ({ admission, body }) => {
        const lease = leaseOf(admission);
        assertLive(lease);
        return { body: await push.subscribe(ownDevice(lease), body) };
      },
    }),
    route({
      method: "DELETE",
      path: "/api/push/:id",
      scope: routeScopes["DELETE /api/push/:id"],
      summary: "Ends a subscription of this device",
      handle: async ({ admission, params }) => {
        await push.unsubscribe(ownDevice(leaseOf(admission)), params.id ?? "");
        return { status: 204 };
      },
    }),
    route({
      method: "GET",
      path: "/api/push/messages/:id",
      scope: routeScopes["GET /api/push/messages/:id"],
      summary: "What the id in a push stands for; for the service worker that got it",
      response: PushMessageSchema,
      handle: async ({ admission, params }) => ({
        body: await push.message(ownDevice(leaseOf(admission)), params.id ?? ""),
      }),
    }),
  ];
}

function deviceOf({ principal }: Lease): string | null {
  return principal.kind === "device" ? principal.device : null;
}

function ownDevice(lease: Lease): string {
  const device = deviceOf(lease);
  if (device === null)
    throw new SallyportError(
      "not_supported",
      "Notifications belong to a paired device; the master token has none.",
    );
  return device;
}

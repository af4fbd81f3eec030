import { Type } from "typebox";
import type { Lease } from "../../auth/principal.ts";
import { routeScopes } from "../../auth/scope-table.ts";
import { byOf } from "../../pairing/device-rules.ts";
import { type By, type Remote, RemoteSchema } from "../../protocol/objects.ts";
import { leaseOf } from "../lease-of.ts";
import { remoteFor } from "../native/snapshot-view.ts";
import { type Route, route } from "../route.ts";

export interface TunnelRouteOptions {
  readonly remote: () => Remote;
  /** Throws `invalid_field`, or `not_supported` where the program is missing. */
  readonly start: (provider: string, rawFields: Readonly<Record<string, unknown>>, by: By) => Promise<void>;
  readonly stop: (by: By) => Promise<void>;
}

/** Fields beside `provider` are judged by the provider, which knows their grammar. */
const StartBody = Type.Object({ provider: Type.String({ minLength: 1, maxLength: 64 }) });

/** `POST /api/tunnel` and `DELETE /api/tunnel`. Both answer as `GET /api/remote`. */
export function tunnelRoutes(options: TunnelRouteOptions): readonly Route[] {
  const answer = (lease: Lease): Remote => remoteFor(lease, options.remote());
  return [
    route({
      method: "POST",
      path: "/api/tunnel",
      scope: routeScopes["POST /api/tunnel"],
      summary: "Starts a tunnel instead of the one that runs; how it goes is told by the remote change",
      response: RemoteSchema,
      responseStatus: 202,
      body: StartBody,
      handle: async ({ admission, body }) => {
        const lease = leaseOf(admission);
        const { provider, ...rawFields } = body;
        await options.start(provider, rawFields, byOf(lease));
        return { status: 202, body: answer(lease) };
      },
    }),
    route({
      method: "DELETE",
      path: "/api/tunnel",
      scope: routeScopes["DELETE /api/tunnel"],
      summary: "Ends the tunnel, and the exposure that its start switched on",
      response: RemoteSchema,
      handle: async ({ admission }) => {
        const lease = leaseOf(admission);
        await options.stop(byOf(lease));
        return { body: answer(lease) };
      },
    }),
  ];
}

import { type Static, Type } from "typebox";
import type { Lease } from "../../auth/principal.ts";
import { routeScopes } from "../../auth/scope-table.ts";
import { byOf } from "../../pairing/device-rules.ts";
import type { Access, By, Remote } from "../../protocol/objects.ts";
import { AccessSchema, RemoteSchema } from "../../protocol/objects.ts";
import { leaseOf } from "../lease-of.ts";
import { remoteFor } from "../native/snapshot-view.ts";
import { type Route, route } from "../route.ts";

export interface RemoteRouteOptions {
  readonly remote: () => Remote;
  /** Switches exposure and answers how things are then. May throw `conflict` or `not_supported`. */
  readonly setAccess: (access: Access, by: By) => Promise<Remote>;
}

const AccessBody = Type.Object({ access: AccessSchema });
export type AccessBody = Static<typeof AccessBody>;

/** `GET /api/remote` and `POST /api/remote`. */
export function remoteRoutes({ remote, setAccess }: RemoteRouteOptions): readonly Route[] {
  const answer = (lease: Lease | null, current: Remote) => ({
    body: lease ? remoteFor(lease, current) : current,
  });
  return [
    route({
      method: "GET",
      path: "/api/remote",
      scope: routeScopes["GET /api/remote"],
      summary: "Remote access as it is now",
      response: RemoteSchema,
      handle: ({ admission }) => answer(admission.lease, remote()),
    }),
    route({
      method: "POST",
      path: "/api/remote",
      scope: routeScopes["POST /api/remote"],
      summary: "Switches remote access",
      response: RemoteSchema,
      body: AccessBody,
      handle: async ({ admission, body }) =>
        answer(admission.lease, await setAccess(body.access, byOf(leaseOf(admission)))),
    }),
  ];
}

import { Type } from "typebox";
import { routeScopes } from "../../auth/scope-table.ts";
import { SnapshotSchema } from "../../protocol/changes.ts";
import { leaseOf } from "../lease-of.ts";
import type { SnapshotViews } from "../native/snapshot-view.ts";
import { type Route, route } from "../route.ts";

/** `GET /api/snapshot`: as on the WebSocket, with `since` and `instance` only what was missed. */
export function snapshotRoutes(views: SnapshotViews): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/snapshot",
      scope: routeScopes["GET /api/snapshot"],
      summary: "The whole state, or what was missed since a revision",
      response: SnapshotSchema,
      query: Type.Object({
        since: Type.Optional(Type.Integer({ minimum: 0 })),
        instance: Type.Optional(Type.String({ maxLength: 64 })),
        workspace: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
        version: Type.Optional(Type.String({ maxLength: 64 })),
      }),
      handle: ({ admission, query }) => {
        const lease = leaseOf(admission);
        const missed = views.missed(lease, query.since ?? null, query.instance ?? null);
        const workspace = query.workspace ?? null;
        return { body: missed ?? views.full(lease, { workspace, rawVersion: query.version ?? null }) };
      },
    }),
  ];
}

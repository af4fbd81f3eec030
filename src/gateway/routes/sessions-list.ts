import { Type } from "typebox";
import { routeScopes } from "../../auth/scope-table.ts";
import type { Library } from "../../engine/library.ts";
import { limits } from "../../protocol/limits.ts";
import { SessionListSchema } from "../../protocol/rest-objects.ts";
import { leaseOf } from "../lease-of.ts";
import { actorOf } from "../native/actor.ts";
import { type Route, route } from "../route.ts";

const maxSessions = 500;

/** `GET /api/sessions` and `DELETE /api/sessions/{id}`. */
export function sessionListRoutes(
  library: Pick<Library, "listSessions" | "deleteSession">,
  now: () => number,
): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/sessions",
      scope: routeScopes["GET /api/sessions"],
      summary: "Saved sessions, newest first",
      query: Type.Object({
        cwd: Type.Optional(Type.String({ minLength: 1, maxLength: limits.pathBytes })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxSessions })),
        subagents: Type.Optional(Type.Boolean()),
        before: Type.Optional(Type.String({ maxLength: 64 })),
        q: Type.Optional(Type.String({ maxLength: 200 })),
      }),
      response: SessionListSchema,
      etag: true,
      handle: async ({ query }) => ({ body: await library.listSessions(query) }),
    }),
    route({
      method: "DELETE",
      path: "/api/sessions/:id",
      scope: routeScopes["DELETE /api/sessions/:id"],
      summary: "Deletes a transcript that is open on no tab",
      handle: async ({ admission, params }) => {
        await library.deleteSession(params.id ?? "", actorOf(leaseOf(admission), now));
        return { status: 204 };
      },
    }),
  ];
}

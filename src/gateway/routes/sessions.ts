import { Type } from "typebox";
import { routeScopes } from "../../auth/scope-table.ts";
import type { Engine } from "../../engine/engine.ts";
import { SessionPageSchema } from "../../protocol/rest-answers.ts";
import { type Route, route } from "../route.ts";

/** `GET /api/sessions/{id}`: a page of a transcript, the newest records without `before`. */
export function sessionRoutes(engine: Pick<Engine, "readSession">): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/sessions/:id",
      scope: routeScopes["GET /api/sessions/:id"],
      summary: "A page of a transcript, the newest records first asked for",
      response: SessionPageSchema,
      query: Type.Object({
        before: Type.Optional(Type.Integer({ minimum: 0 })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
      }),
      handle: async ({ params, query }) => ({ body: await engine.readSession(params.id ?? "", query) }),
    }),
  ];
}

import { routeScopes } from "../../auth/scope-table.ts";
import type { Library } from "../../engine/library.ts";
import { ModelListSchema } from "../../protocol/rest-objects.ts";
import { type Route, route } from "../route.ts";

/** `GET /api/models`. */
export function modelRoutes(library: Pick<Library, "models">): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/models",
      scope: routeScopes["GET /api/models"],
      summary: "What can run agents here, and the models that it can use",
      response: ModelListSchema,
      etag: true,
      handle: () => ({ body: library.models() }),
    }),
  ];
}

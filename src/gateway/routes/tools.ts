import { routeScopes } from "../../auth/scope-table.ts";
import type { Library } from "../../engine/library.ts";
import { ToolListSchema } from "../../protocol/rest-answers.ts";
import { type Route, route } from "../route.ts";

/** `GET /api/tools`. */
export function toolRoutes(library: Pick<Library, "tools">): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/tools",
      scope: routeScopes["GET /api/tools"],
      summary: "The tools of the daemon and its runtimes, and which of them ask",
      response: ToolListSchema,
      etag: true,
      handle: () => ({ body: { tools: library.tools() } }),
    }),
  ];
}

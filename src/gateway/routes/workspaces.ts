import { routeScopes } from "../../auth/scope-table.ts";
import type { Library } from "../../engine/library.ts";
import { WorkspaceListSchema } from "../../protocol/rest-answers.ts";
import { type Route, route } from "../route.ts";

/** `GET /api/workspaces`. */
export function workspaceRoutes(library: Pick<Library, "listWorkspaces">): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/workspaces",
      scope: routeScopes["GET /api/workspaces"],
      summary: "The workspaces",
      response: WorkspaceListSchema,
      etag: true,
      handle: () => ({ body: { workspaces: library.listWorkspaces() } }),
    }),
  ];
}

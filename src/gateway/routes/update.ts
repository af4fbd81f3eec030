import { routeScopes } from "../../auth/scope-table.ts";
import { UpdateSchema } from "../../protocol/rest-objects.ts";
import { type Route, route } from "../route.ts";

/** `GET /api/update`: the daemon asks nobody on the network, so it knows its own version only. */
export function updateRoutes(version: string): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/update",
      scope: routeScopes["GET /api/update"],
      summary: "The version that runs, and a newer one if it is known",
      response: UpdateSchema,
      handle: () => ({ body: { current: version, latest: null, checked: null } }),
    }),
  ];
}

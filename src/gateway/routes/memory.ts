import { routeScopes } from "../../auth/scope-table.ts";
import { MemoryListSchema } from "../../protocol/rest-objects.ts";
import { type Route, route } from "../route.ts";

/** `GET /api/memory`: no runtime keeps notes of its own yet, and a file that nobody reads would only look like memory. */
export function memoryRoutes(): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/memory",
      scope: routeScopes["GET /api/memory"],
      summary: "Notes that agents keep for later sessions",
      response: MemoryListSchema,
      etag: true,
      handle: () => ({ body: { available: false, memory: [] } }),
    }),
  ];
}

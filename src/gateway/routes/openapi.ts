import { Type } from "typebox";
import { routeScopes } from "../../auth/scope-table.ts";
import { JsonBytes } from "../body-bytes.ts";
import { describeApi } from "../openapi.ts";
import { type Route, route } from "../route.ts";

/** The routes with `GET /api/openapi.json` added, which describes them all. Made when first asked for. */
export function withOpenApi(routes: readonly Route[], version: string): readonly Route[] {
  let described: JsonBytes | null = null;
  const all: readonly Route[] = [
    ...routes,
    route({
      method: "GET",
      path: "/api/openapi.json",
      scope: routeScopes["GET /api/openapi.json"],
      summary: "This description",
      response: Type.Object({ openapi: Type.String() }),
      etag: true,
      handle: () => {
        described ??= new JsonBytes(Buffer.from(JSON.stringify(describeApi(all, version))));
        return { body: described };
      },
    }),
  ];
  return all;
}

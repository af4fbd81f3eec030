import { Type } from "typebox";
import { routeScopes } from "../../auth/scope-table.ts";
import type { Library } from "../../engine/library.ts";
import { limits } from "../../protocol/limits.ts";
import { FolderSchema } from "../../protocol/rest-objects.ts";
import { type Route, route } from "../route.ts";

const maxEntries = 1_000;

/** `GET /api/fs`: what a picker shows of a folder, for everybody below the browse root only. */
export function fsRoutes(library: Pick<Library, "browse">): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/fs",
      scope: routeScopes["GET /api/fs"],
      summary: "The subfolders of a folder below daemon.browse_root, and with files=true its files",
      query: Type.Object({
        path: Type.Optional(Type.String({ minLength: 1, maxLength: limits.pathBytes })),
        files: Type.Optional(Type.Boolean()),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxEntries })),
        after: Type.Optional(Type.String({ maxLength: limits.pathBytes })),
      }),
      response: FolderSchema,
      etag: true,
      handle: async ({ query }) => ({ body: await library.browse(query) }),
    }),
  ];
}

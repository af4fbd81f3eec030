import { Type } from "typebox";
import { routeScopes } from "../../auth/scope-table.ts";
import type { Library } from "../../engine/library.ts";
import { UsageSchema } from "../../protocol/rest-objects.ts";
import { type Route, route } from "../route.ts";

const defaultDays = 30;
const maxDays = 366;

/** `GET /api/usage`. */
export function usageRoutes(library: Pick<Library, "usage">): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/usage",
      scope: routeScopes["GET /api/usage"],
      summary: "Tokens and cost from the transcripts: today, the week, the window, per model and per day",
      query: Type.Object({ days: Type.Optional(Type.Integer({ minimum: 1, maximum: maxDays })) }),
      response: UsageSchema,
      etag: true,
      handle: async ({ query }) => ({ body: await library.usage(query.days ?? defaultDays) }),
    }),
  ];
}

import { Type } from "typebox";
import { routeScopes } from "../../auth/scope-table.ts";
import type { Engine } from "../../engine/engine.ts";
import { JobOutputSchema } from "../../protocol/objects.ts";
import { JobListSchema } from "../../protocol/rest-answers.ts";
import { type Route, route } from "../route.ts";

/** `GET /api/jobs` and `GET /api/jobs/{id}/output`. */
export function jobRoutes(engine: Pick<Engine, "listJobs" | "readJob">): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/jobs",
      scope: routeScopes["GET /api/jobs"],
      summary: "The background jobs, newest first",
      response: JobListSchema,
      etag: true,
      handle: () => ({ body: { jobs: engine.listJobs() } }),
    }),
    route({
      method: "GET",
      path: "/api/jobs/:id/output",
      scope: routeScopes["GET /api/jobs/:id/output"],
      summary: "A chunk of a job's log; without offset its end",
      response: JobOutputSchema,
      query: Type.Object({
        offset: Type.Optional(Type.Integer()),
        limit: Type.Optional(Type.Integer()),
        tail: Type.Optional(Type.Integer()),
      }),
      handle: async ({ params, query }) => ({
        body: await engine.readJob({ job: params.id ?? "", ...query }),
      }),
    }),
  ];
}

import type { TSchema } from "typebox";
import type { ScopeRow } from "../auth/scope-table.ts";
import { ErrorSchema } from "../protocol/replies.ts";
import { isJsonObject } from "./body-json.ts";
import { namedSchemas } from "./openapi-schemas.ts";
import type { Route } from "./route.ts";

type Json = Readonly<Record<string, unknown>>;

const credentials = [{ bearer: [] }, { query_token: [] }];

/** The description of the REST interface (OpenAPI 3.1) from the routes themselves and the schemas that they validate with. */
export function describeApi(routes: readonly Route[], version: string): Json {
  const components = new Map<string, unknown>();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:([^/]+)/g, "{$1}");
    const operations = paths[path] ?? {};
    paths[path] = operations;
    operations[route.method.toLowerCase()] = operation(route, components);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Sallyport",
      version,
      description:
        "The REST side of the native protocol. Live changes come over the WebSocket at /api/ws; docs/protocol.md has all of it. Fields may be added: ignore what you do not know.",
      license: { name: "MIT", identifier: "MIT" },
    },
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "The master token (spm_…) or a device token (spd_…)",
        },
        query_token: {
          type: "apiKey",
          in: "query",
          name: "token",
          description: "For clients that cannot set headers",
        },
      },
      schemas: Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

function operation(route: Route, components: Map<string, unknown>): Json {
  const { scope, response } = route;
  const body = route.bodyDetails ?? route.body;
  const parameters = [...pathParameters(route.path), ...queryParameters(route.query, components)];
  return {
    operationId: `${route.method.toLowerCase()}${route.path.replace(/[^A-Za-z0-9]+/g, "_").replace(/_$/, "")}`,
    ...(route.summary === "" ? {} : { summary: route.summary }),
    ...securityOf(scope),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null
      ? {}
      : { requestBody: { required: hasRequired(body), content: json(body, components) } }),
    responses: {
      [route.responseStatus]: {
        description: "Done",
        ...(response === null ? {} : { content: json(response, components) }),
      },
      ...(route.etag ? { 304: { description: "Not changed since the answer with this entity tag" } } : {}),
      default: { description: "Refused", content: json(ErrorSchema, components) },
    },
  };
}

function securityOf(scope: ScopeRow): Json {
  if (scope.needs === "public") return { security: [] };
  return { security: credentials, "x-scopes": scope.needs };
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/:([^/]+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(query: TSchema | null, components: Map<string, unknown>): Json[] {
  if (query === null || !("properties" in query) || !isJsonObject(query.properties)) return [];
  const required: readonly unknown[] =
    "required" in query && Array.isArray(query.required) ? query.required : [];
  return Object.entries(query.properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema: describe(schema, components),
  }));
}

function hasRequired(body: TSchema): boolean {
  return "anyOf" in body || ("required" in body && Array.isArray(body.required) && body.required.length > 0);
}

function json(schema: TSchema, components: Map<string, unknown>): Json {
  return { "application/json": { schema: describe(schema, components) } };
}

/** A schema as JSON, with references where it, or a part of it, has a name. */
function describe(schema: unknown, components: Map<string, unknown>): unknown {
  if (Array.isArray(schema)) return schema.map((each) => describe(each, components));
  if (!isJsonObject(schema)) return schema;
  const name = namedSchemas.get(schema);
  if (name === undefined) return describeParts(schema, components);
  if (!components.has(name)) {
    // Before its parts: one that held itself would never end.
    components.set(name, {});
    components.set(name, describeParts(schema, components));
  }
  return { $ref: `#/components/schemas/${name}` };
}

function describeParts(schema: Json, components: Map<string, unknown>): Json {
  return Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, describe(part, components)]));
}

import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { routeScopes } from "../../src/auth/scope-table.ts";
import { JsonBytes } from "../../src/gateway/body-bytes.ts";
import { commandSchemas } from "../../src/protocol/commands.ts";
import { allRoutes } from "./all-routes.ts";

interface Operation {
  readonly summary?: string;
  readonly security: readonly unknown[];
  readonly "x-scopes"?: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly content?: unknown }>>;
}
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

async function description(): Promise<Document> {
  const { routes } = allRoutes();
  const route = routes.find(({ path }) => path === "/api/openapi.json");
  const admission = { requestClass: "local" as const, door: "main", clientAddress: null, lease: null };
  if (!route) throw new Error("there is no description");
  const answer = await route.handle({ admission, params: {}, query: {}, body: undefined });
  if (!(answer.body instanceof JsonBytes)) throw new Error("the description is no JSON text");
  return JSON.parse(answer.body.bytes.toString());
}

describe("GET /api/openapi.json", () => {
  it("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const result = await validator.validate((await description()) as never);
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(validator.version).toBe("3.1");
  });

  it("has every route of the scope table, with its scopes", async () => {
    const { paths } = await description();
    const found: Record<string, unknown> = {};
    for (const [path, operations] of Object.entries(paths))
      for (const [method, operation] of Object.entries(operations))
        found[`${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`] =
          operation["x-scopes"] ?? (operation.security.length === 0 ? "public" : null);
    const declared = Object.entries(routeScopes)
      .filter(([key]) => !key.startsWith("SOCKET "))
      .map(([key, row]) => [key, row.needs]);
    // A route that another part of the daemon adds later is not among those that this test can build.
    expect(found).toEqual(Object.fromEntries(declared.filter(([key]) => String(key) in found)));
    expect(Object.keys(found).length).toBeGreaterThan(25);
  });

  it("says of every operation what it does, what it answers and how it refuses", async () => {
    const { paths } = await description();
    for (const [path, operations] of Object.entries(paths))
      for (const [method, operation] of Object.entries(operations)) {
        const name = `${method} ${path}`;
        expect(operation.summary, name).toBeTruthy();
        const [status = ""] = Object.keys(operation.responses);
        expect(operation.responses[status]?.content !== undefined || status === "204", name).toBe(true);
        expect(operation.responses.default, name).toBeDefined();
        for (const [, parameter] of path.matchAll(/\{(\w+)\}/g))
          expect(
            operation.parameters?.some((each) => each.in === "path" && each.name === parameter),
            name,
          ).toBe(true);
      }
  });

  it("describes every command, and objects once", async () => {
    const { components, paths } = await description();
    for (const type of Object.keys(commandSchemas))
      expect(components.schemas).toHaveProperty(`Command_${type}`);
    for (const name of ["Error", "Agent", "Job", "Workspace", "SessionRow"])
      expect(components.schemas).toHaveProperty(name);
    expect(JSON.stringify(paths)).toContain('{"$ref":"#/components/schemas/Job"}');
  });

  it("lets nothing but hello and pairing in without a credential", async () => {
    const { paths } = await description();
    const open = Object.entries(paths).flatMap(([path, operations]) =>
      Object.values(operations).some((operation) => operation.security.length === 0) ? [path] : [],
    );
    expect(open.sort()).toEqual(["/api/hello", "/api/pair"]);
  });
});

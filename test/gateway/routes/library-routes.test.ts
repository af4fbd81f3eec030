import { afterEach, describe, expect, it } from "vitest";
import { fsRoutes } from "../../../src/gateway/routes/fs.ts";
import { memoryRoutes } from "../../../src/gateway/routes/memory.ts";
import { modelRoutes } from "../../../src/gateway/routes/models.ts";
import { sessionListRoutes } from "../../../src/gateway/routes/sessions-list.ts";
import { toolRoutes } from "../../../src/gateway/routes/tools.ts";
import { updateRoutes } from "../../../src/gateway/routes/update.ts";
import { usageRoutes } from "../../../src/gateway/routes/usage.ts";
import { workspaceRoutes } from "../../../src/gateway/routes/workspaces.ts";
import type { Scope } from "../../../src/protocol/scopes.ts";
import { request } from "../../helpers/http.ts";
import { fakeLibrary } from "../fake-library.ts";
import { deviceLease, startTestApp, type TestApp } from "../harness.ts";

let app: TestApp;
const calls: unknown[] = [];
afterEach(async () => {
  calls.length = 0;
  await app.close();
});

async function start(scopes: readonly Scope[]): Promise<void> {
  const note =
    <T>(name: string, answer: T) =>
    async (...given: readonly unknown[]): Promise<T> => {
      calls.push([name, given[0]]);
      return answer;
    };
  const library = fakeLibrary({
    listSessions: note("list", { sessions: [], next: null }),
    deleteSession: note("delete", undefined),
    browse: note("browse", {} as never),
    usage: note("usage", {} as never),
  });
  app = await startTestApp({
    lease: deviceLease(scopes),
    routes: [
      ...workspaceRoutes(library),
      ...sessionListRoutes(library, Date.now),
      ...fsRoutes(library),
      ...usageRoutes(library),
      ...modelRoutes(library),
      ...toolRoutes(library),
      ...memoryRoutes(),
      ...updateRoutes("1.2.3"),
    ],
  });
}

describe("the routes of the library", () => {
  it.each([
    ["GET", "/api/workspaces", "view", 200],
    ["GET", "/api/sessions", "view", 200],
    ["GET", "/api/usage", "view", 200],
    ["GET", "/api/models", "view", 200],
    ["GET", "/api/tools", "view", 200],
    ["GET", "/api/memory", "view", 200],
    ["GET", "/api/update", "view", 200],
    ["GET", "/api/fs", "drive", 200],
    ["DELETE", "/api/sessions/x", "drive", 204],
  ] as const)("%s %s needs %s and no more", async (method, path, scope, status) => {
    await start((["view", "drive", "approve", "admin"] as const).filter((each) => each !== scope));
    expect(await request(app.base, method, path)).toMatchObject({
      status: 403,
      json: { code: "scope_missing" },
    });
    expect(calls).toEqual([]);
    app.caller.lease = deviceLease([scope]);
    expect((await request(app.base, method, path)).status).toBe(status);
  });

  it("hand over what was asked for, with its types", async () => {
    await start(["view", "drive"]);
    await request(
      app.base,
      "GET",
      "/api/sessions?cwd=%2Fsrv%2Fa%20b&limit=3&subagents=true&before=1-x&q=two%20words",
    );
    await request(app.base, "GET", "/api/fs?path=~&files=false&limit=1000&after=b");
    await request(app.base, "GET", "/api/usage");
    await request(app.base, "GET", "/api/usage?days=366");
    expect(calls).toEqual([
      ["list", { cwd: "/srv/a b", limit: 3, subagents: true, before: "1-x", q: "two words" }],
      ["browse", { path: "~", files: false, limit: 1_000, after: "b" }],
      ["usage", 30],
      ["usage", 366],
    ]);
  });

  it.each([
    ["/api/sessions?limit=0", "limit"],
    ["/api/sessions?limit=many", "limit"],
    ["/api/sessions?cwd=", "cwd"],
    [`/api/sessions?q=${"x".repeat(201)}`, "q"],
    ["/api/sessions?subagents=1", "subagents"],
    ["/api/fs?files=yes", "files"],
    ["/api/fs?path=", "path"],
    ["/api/fs?limit=-1", "limit"],
    [`/api/fs?path=/${"x".repeat(4_200)}`, "path"],
    ["/api/usage?days=1.5", "days"],
    ["/api/usage?days=-3", "days"],
  ])("refuse %s and name the field", async (path, field) => {
    await start(["view", "drive"]);
    expect(await request(app.base, "GET", path)).toMatchObject({
      status: 422,
      json: { code: "invalid_field", field },
    });
    expect(calls).toEqual([]);
  });

  it("answer 304 without a body to whoever has the list already, and never without asking for it", async () => {
    await start(["view"]);
    const first = await request(app.base, "GET", "/api/sessions");
    expect(first.status).toBe(200);
    const again = await request(app.base, "GET", "/api/sessions", {
      headers: { "if-none-match": String(first.headers.etag) },
    });
    expect(again).toMatchObject({ status: 304, text: "" });
    const other = await request(app.base, "GET", "/api/sessions", { headers: { "if-none-match": '"x"' } });
    expect(other).toMatchObject({ status: 200, text: first.text });
    expect((await request(app.base, "GET", "/api/update")).headers.etag).toBeUndefined();
  });

  it("say honestly what there is not", async () => {
    await start(["view"]);
    expect((await request(app.base, "GET", "/api/memory")).json).toEqual({ available: false, memory: [] });
    expect((await request(app.base, "GET", "/api/update")).json).toEqual({
      current: "1.2.3",
      latest: null,
      checked: null,
    });
    expect((await request(app.base, "GET", "/api/models")).json).toEqual({
      models: [],
      default_model: null,
      runtimes: [],
      default_runtime: "shell",
      add_agent: null,
    });
  });
});

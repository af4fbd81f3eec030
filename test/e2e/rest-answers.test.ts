import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { lineOf, writeSession } from "../engine/sessions/transcripts-on-disk.ts";
import { disposeDaemons, startTestDaemon, type TestDaemon, temporaryHome } from "../helpers/daemon.ts";

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: { readonly "application/json": { readonly schema: TSchema } } }>
  >;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

let daemon: TestDaemon;
let document: Document;
let saved: string;
const ids: Record<string, string> = {};

/** Puts every reference's schema in its place. */
function resolved(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(resolved);
  if (typeof schema !== "object" || schema === null) return schema;
  if ("$ref" in schema && typeof schema.$ref === "string")
    return resolved(document.components.schemas[schema.$ref.split("/").at(-1) ?? ""]);
  return Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, resolved(part)]));
}
const command = async (body: object) => (await daemon.request("POST", "/api/command", { body })).json;

beforeAll(async () => {
  const home = await temporaryHome();
  const work = await realpath(await temporaryHome());
  await mkdir(join(work, "sub"), { recursive: true });
  await mkdir(join(home, "sessions"), { mode: 0o700 });
  saved = await writeSession(join(home, "sessions"), {
    at: new Date().toISOString(),
    cwd: work,
    model: "m-large",
    prompt: "summarise",
    records: [
      {
        type: "usage",
        input_tokens: 10,
        output_tokens: 2,
        cache_read_tokens: 1,
        cache_write_tokens: 0,
        cost: 0.5,
        context_tokens: 12,
      },
    ],
  });
  daemon = await startTestDaemon({
    home,
    cwd: work,
    config: `[daemon]\nbrowse_root = ${JSON.stringify(work)}\n`,
  });
  document = (await daemon.request("GET", "/api/openapi.json")).json;
  const { workspace } = (await daemon.request("GET", "/api/snapshot")).json;
  ids.tab = workspace.tabs[0].id;
  await command({ type: "mode", tab: ids.tab, mode: "autopilot" });
  ids.agent = (await command({ type: "prompt", text: "echo hello" })).agent;
  ids.job = (await command({ type: "job_start", command: "echo job" })).job.id;
  await vi.waitUntil(async () => (await daemon.request("GET", "/api/daemon")).json.running_agents === 0, {
    timeout: 60_000,
  });
}, 60_000);
afterAll(disposeDaemons);

describe("GET answers of a real daemon", () => {
  it("fit the schemas that GET /api/openapi.json declares for them, every one", async () => {
    const queries: Readonly<Record<string, string>> = {
      "/api/settings": `?tab=${ids.tab}`,
      "/api/sessions": "?subagents=true",
      "/api/fs": "?files=true",
      "/api/sessions/{id}": "?limit=50",
    };
    let checked = 0;
    for (const [path, operations] of Object.entries(document.paths)) {
      // Only a device that was sent a push has the id of one: the tests of push read it.
      if (path === "/api/push/messages/{id}") continue;
      const schema = operations.get?.responses[200]?.content?.["application/json"].schema;
      if (!operations.get || !schema) continue;
      const id = path.startsWith("/api/jobs") ? ids.job : ids.agent;
      const answer = await daemon.request("GET", path.replace("{id}", id ?? "") + (queries[path] ?? ""));
      expect(answer.status, path).toBe(200);
      const validator = Compile(resolved(schema) as TSchema);
      const [wrong] = validator.Errors(answer.json);
      expect(wrong, `${path}: ${JSON.stringify(wrong)}`).toBeUndefined();
      checked += 1;
    }
    expect(checked).toBeGreaterThan(15);
  });

  it("refuse in the shape that is declared, for every route with a wrong id, field or method", async () => {
    const error = Compile(resolved({ $ref: "#/components/schemas/Error" }) as TSchema);
    for (const [method, path, status] of [
      ["GET", "/api/sessions/nonsense", 404],
      ["GET", `/api/sessions/${ids.tab}`, 404],
      ["DELETE", "/api/sessions/..%2Fdaemon", 400],
      ["GET", "/api/sessions?limit=0", 422],
      ["GET", "/api/sessions?limit=501", 422],
      ["GET", "/api/sessions?before=x", 422],
      ["GET", "/api/sessions?subagents=maybe", 422],
      ["GET", "/api/usage?days=0", 422],
      ["GET", "/api/usage?days=367", 422],
      ["GET", "/api/usage?days=1&days=2", 400],
      ["GET", "/api/fs?path=relative", 422],
      ["GET", "/api/fs?path=/", 403],
      ["GET", "/api/fs?limit=1001", 422],
      ["GET", "/api/settings?tab=nonsense", 404],
      ["GET", "/api/nothing", 404],
      ["POST", "/api/usage", 404],
    ] as const) {
      const answer = await daemon.request(method, path);
      expect([path, answer.status]).toEqual([path, status]);
      expect(error.Check(answer.json), path).toBe(true);
    }
  });
});

describe("sessions over REST", () => {
  it("are listed with what runs in them, newest first, and found by words and folder", async () => {
    const { sessions, next } = (await daemon.request("GET", "/api/sessions")).json;
    expect(next).toBeNull();
    expect(sessions.map((row: { id: string }) => row.id).sort()).toEqual([saved, ids.agent].sort());
    const open = sessions.find((row: { id: string }) => row.id === ids.agent);
    expect(open).toMatchObject({ prompt: "echo hello", state: "idle", live: true, tab: ids.tab });
    const closed = sessions.find((row: { id: string }) => row.id === saved);
    expect(closed).toMatchObject({ state: "closed", live: false, tab: null, model: "m-large" });
    const found = await daemon.request("GET", "/api/sessions?q=SUMMARISE");
    expect(found.json.sessions).toHaveLength(1);
    const page = (await daemon.request("GET", "/api/sessions?limit=1")).json;
    const rest = (await daemon.request("GET", `/api/sessions?limit=1&before=${page.next}`)).json;
    expect(rest.sessions).toHaveLength(1);
    expect(rest.sessions[0].id).not.toBe(page.sessions[0].id);
    expect(
      (await daemon.request("GET", `/api/sessions?cwd=${encodeURIComponent(closed.cwd)}/`)).json.sessions,
    ).not.toEqual([]);
  });

  it("are counted in the usage", async () => {
    const { today, per_model } = (await daemon.request("GET", "/api/usage?days=2")).json;
    expect(today).toMatchObject({ input_tokens: 10, output_tokens: 2, cost: 0.5 });
    expect(per_model).toMatchObject([{ model: "m-large", input_tokens: 10 }]);
  });

  it("are not deleted while their agent is on a tab, and are gone for good when they are", async () => {
    expect(await daemon.request("DELETE", `/api/sessions/${ids.agent}`)).toMatchObject({
      status: 409,
      json: { code: "conflict", reason: "in_use" },
    });
    await command({ type: "agent_close", agent: ids.agent });
    expect((await daemon.request("DELETE", `/api/sessions/${ids.agent}`)).status).toBe(204);
    expect((await daemon.request("DELETE", `/api/sessions/${ids.agent}`)).status).toBe(404);
    expect((await daemon.request("GET", `/api/sessions/${ids.agent}`)).status).toBe(404);
    const { sessions } = (await daemon.request("GET", "/api/sessions")).json;
    expect(sessions.map((row: { id: string }) => row.id)).toEqual([saved]);
  });

  it("that are damaged are listed, read and deleted all the same", async () => {
    const damaged = saved.replace(/.{4}$/, "0000");
    await writeFile(
      join(daemon.home, "sessions", `${damaged}.jsonl`),
      `nonsense\n${lineOf(damaged, new Date().toISOString(), { type: "notice", message: "whole" })}torn`,
    );
    const { sessions } = (await daemon.request("GET", "/api/sessions")).json;
    expect(sessions.find((row: { id: string }) => row.id === damaged)).toMatchObject({ damaged: true });
    expect((await daemon.request("GET", `/api/sessions/${damaged}`)).json.records).toHaveLength(1);
    expect((await daemon.request("DELETE", `/api/sessions/${damaged}`)).status).toBe(204);
  });
});

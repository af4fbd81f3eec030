import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AuditEvent } from "../../../src/auth/audit.ts";
import { parseConfig } from "../../../src/config/parse-config.ts";
import { settingsRoutes } from "../../../src/gateway/routes/settings.ts";
import { request } from "../../helpers/http.ts";
import { fakeLibrary } from "../fake-library.ts";
import { deviceLease, masterLease, startTestApp, type TestApp } from "../harness.ts";

const text = "# mine\nport = 7700\n\n[daemon]\nidle_minutes = 5 # short\n";
let home: string;
let path: string;
let app: TestApp;
const audited: AuditEvent[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "sallyport-settings-"));
  path = join(home, "config.toml");
  await writeFile(path, text, { mode: 0o600 });
  audited.length = 0;
  const base = { path, userHome: home, ruleProblem: () => null };
  const library = fakeLibrary({
    context: async (tab) => ({
      tab,
      cwd: "/srv",
      trusted: true,
      mode: "ask",
      runtime: "shell",
      agent: null,
      model: null,
      context_tokens: null,
    }),
  });
  app = await startTestApp({
    lease: masterLease(),
    routes: settingsRoutes({
      ...base,
      running: () => parseConfig(text, base),
      library,
      audit: (event) => void audited.push(event),
    }),
  });
});
afterEach(async () => {
  await app.close();
  await rm(home, { recursive: true });
});

const patch = (settings: unknown) => request(app.base, "PATCH", "/api/settings", { body: { settings } });
const file = () => readFile(path, "utf8");

describe("GET /api/settings", () => {
  it("shows settings, and with a tab what its next prompt goes into", async () => {
    const { status, json } = await request(app.base, "GET", "/api/settings?tab=t1");
    expect(status).toBe(200);
    expect(json).toMatchObject({ path, problem: null, context: { tab: "t1", runtime: "shell" } });
    expect(json.settings.length).toBeGreaterThan(15);
    expect((await request(app.base, "GET", "/api/settings")).json.context).toBeNull();
  });

  it("answers 304 to whoever has it already", async () => {
    const first = await request(app.base, "GET", "/api/settings");
    const etag = String(first.headers.etag);
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await request(app.base, "GET", "/api/settings", { headers: { "if-none-match": tag } });
      expect(again).toMatchObject({ status: 304, text: "", headers: { etag } });
    }
    await patch({ "daemon.idle_minutes": 6 });
    const after = await request(app.base, "GET", "/api/settings", { headers: { "if-none-match": etag } });
    expect(after.status).toBe(200);
  });
});

describe("PATCH /api/settings", () => {
  it("writes what was asked for and nothing else, and answers as GET does", async () => {
    const answer = await patch({ "daemon.idle_minutes": 60, port: 7701 });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual((await request(app.base, "GET", "/api/settings")).json);
    const row = answer.json.settings.find((each: { key: string }) => each.key === "port");
    expect(row).toMatchObject({ value: 7701, restart_needed: true });
    expect(await file()).toBe("# mine\nport = 7701\n\n[daemon]\nidle_minutes = 60 # short\n");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(audited).toEqual([
      {
        type: "settings_changed",
        keys: ["daemon.idle_minutes", "port"],
        by: { device: null, name: "local" },
      },
    ]);
  });

  it("lets an admin device write what is harmless, and keeps programs, paths and the gate from it", async () => {
    app.caller.lease = deviceLease();
    expect((await patch({ "jobs.keep_days": 3 })).status).toBe(200);
    const before = await file();
    for (const [key, value] of [
      ["agents.evil.command", "/tmp/evil"],
      ["daemon.browse_root", "/"],
      ["rules.allow", ["bash(*)"]],
      ["origins", ["https://evil.example"]],
    ] as const) {
      const answer = await patch({ "jobs.keep_days": 4, [key]: value });
      expect(answer).toMatchObject({ status: 403, json: { code: "scope_missing", field: key } });
    }
    expect(await file()).toBe(before);
  });

  it.each([
    [undefined, "settings"],
    [{}, "settings"],
    [[], "settings"],
    ["x", "settings"],
    [Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, 1])), "settings"],
    [{ nonsense: 1 }, "nonsense"],
    [{ "daemon.idle_minutes": "soon" }, "daemon.idle_minutes"],
  ])("refuses %j and names the field", async (settings, field) => {
    expect(await patch(settings)).toMatchObject({ status: 422, json: { code: "invalid_field", field } });
    expect(await file()).toBe(text);
    expect(audited).toEqual([]);
  });

  it("changes nothing once the device was revoked", async () => {
    const lease = deviceLease();
    app.caller.lease = lease;
    lease.end("revoked");
    expect((await patch({ "jobs.keep_days": 3 })).status).toBe(401);
    expect(await file()).toBe(text);
  });

  it("loses none of many changes that come at once", async () => {
    const keys = ["jobs.keep_days", "daemon.idle_minutes", "mew.detach_grace", "port", "jobs.max_log_bytes"];
    const answers = await Promise.all(keys.map((key, index) => patch({ [key]: 5_000 + index })));
    expect(answers.map((answer) => answer.status)).toEqual(keys.map(() => 200));
    const { settings } = answers.at(-1)?.json ?? {};
    expect(settings).toBeDefined();
    const now = (await request(app.base, "GET", "/api/settings")).json.settings;
    for (const [index, key] of keys.entries())
      expect(now.find((each: { key: string }) => each.key === key).value).toBe(5_000 + index);
  });

  it("touches no file that is wrong, and tells what is wrong with it", async () => {
    await writeFile(path, "port = = 1\n");
    expect(await patch({ port: 1 })).toMatchObject({ status: 422, json: { code: "not_supported" } });
    const shown = await request(app.base, "GET", "/api/settings");
    expect(shown.json.problem).toContain("line 1");
    await chmod(path, 0o666);
    expect((await patch({ port: 1 })).status).toBe(422);
    expect(await file()).toBe("port = = 1\n");
  });
});

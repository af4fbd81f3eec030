import { afterEach, describe, expect, it } from "vitest";
import { request } from "../../helpers/http.ts";
import { openSocket } from "../../helpers/socket.ts";
import { deviceLease, job, masterLease, startTestApp, type TestApp, workspaceId } from "../harness.ts";

let app: TestApp;
afterEach(() => app.close());

describe("GET /api/daemon", () => {
  it("tells all about the daemon", async () => {
    app = await startTestApp();
    await openSocket(app.base);
    const { status, json } = await request(app.base, "GET", "/api/daemon");
    expect(status).toBe(200);
    expect(json).toEqual({
      version: "1.2.3",
      pid: 68119,
      started: "2026-11-30T10:00:00.000Z",
      instance: app.changeLog.instance,
      clients: 1,
      workspaces: 1,
      loaded_tabs: 1,
      running_agents: 0,
      running_jobs: 0,
      pending: 0,
      idle_minutes: null,
      remote: app.remote,
      awake: { mode: "off", active: false, available: true },
    });
  });

  it("keeps a tunnel's login link from a device without admin, here and in GET /api/remote", async () => {
    app = await startTestApp({ lease: deviceLease(["view"]) });
    for (const path of ["/api/daemon", "/api/remote", "/api/snapshot"])
      expect((await request(app.base, "GET", path)).text).not.toContain("login.example");
    app.caller.lease = masterLease();
    expect((await request(app.base, "GET", "/api/remote")).json.tunnel.link).toContain("login.example");
  });
});

describe("POST /api/daemon/stop", () => {
  it("acks with 202 and stops afterwards", async () => {
    app = await startTestApp();
    const answer = await request(app.base, "POST", "/api/daemon/stop", { body: {} });
    expect(answer).toMatchObject({ status: 202, json: { type: "ack" } });
    await expect.poll(() => app.stops).toEqual([{ restart: false }]);
  });

  it("takes no body for an empty one", async () => {
    app = await startTestApp();
    expect((await request(app.base, "POST", "/api/daemon/stop")).status).toBe(202);
  });

  it("refuses while agents or jobs run, with their numbers, unless force is true", async () => {
    app = await startTestApp();
    app.engine.counted = { running_agents: 1, running_jobs: 2 };
    expect(await request(app.base, "POST", "/api/daemon/stop", { body: { restart: true } })).toMatchObject({
      status: 409,
      json: { type: "error", code: "conflict", reason: "running", agents: 1, jobs: 2 },
    });
    expect(app.stops).toEqual([]);
    const body = { force: true, restart: true };
    expect((await request(app.base, "POST", "/api/daemon/stop", { body })).status).toBe(202);
    await expect.poll(() => app.stops).toEqual([{ restart: true }]);
  });
});

describe("POST /api/remote", () => {
  it("switches exposure and answers as GET does", async () => {
    app = await startTestApp();
    const answer = await request(app.base, "POST", "/api/remote", { body: { access: "off" } });
    expect(answer).toMatchObject({ status: 200, json: { access: "off" } });
    expect((await request(app.base, "GET", "/api/remote")).json).toEqual(answer.json);
    expect(await request(app.base, "POST", "/api/remote", { body: { access: "all" } })).toMatchObject({
      status: 422,
      json: { field: "access" },
    });
  });
});

describe("GET /api/snapshot", () => {
  it("answers the whole state, or what was missed", async () => {
    app = await startTestApp();
    expect((await request(app.base, "GET", "/api/snapshot")).json).toMatchObject({
      type: "snapshot",
      workspace: { id: workspaceId },
    });
    const since = app.changeLog.append({ type: "notice", message: "one" });
    app.changeLog.append({ type: "notice", message: "two" });
    const { instance } = app.changeLog;
    const missed = await request(app.base, "GET", `/api/snapshot?since=${since}&instance=${instance}`);
    expect(missed.json).toMatchObject({ since, changes: [{ message: "two" }] });
    expect(missed.headers["content-type"]).toBe("application/json; charset=utf-8");
    const future = await request(app.base, "GET", `/api/snapshot?since=999&instance=${instance}`);
    expect(future.json.workspace.id).toBe(workspaceId);
    for (const bad of ["-1", "x", ""])
      expect((await request(app.base, "GET", `/api/snapshot?since=${bad}`)).json).toMatchObject({
        field: "since",
      });
    expect((await request(app.base, "GET", "/api/snapshot?workspace=nope")).status).toBe(404);
  });
});

describe("POST /api/command", () => {
  const command = (body: unknown) => request(app.base, "POST", "/api/command", { body });

  it("answers the command's reply, with its client_ref if there is one", async () => {
    app = await startTestApp();
    const ack = await command({ type: "prompt", text: "ls", client_ref: "c1" });
    expect(ack).toMatchObject({ status: 200, json: { type: "ack", status: "accepted", client_ref: "c1" } });
    expect((await command({ type: "ping" })).json).toEqual({ type: "pong", at: expect.any(String) });
    expect((await command({ type: "snapshot" })).json).toMatchObject({ type: "snapshot" });
    const { rev, instance } = app.changeLog;
    expect((await command({ type: "snapshot", since: rev, instance, client_ref: "s" })).json).toMatchObject({
      client_ref: "s",
      changes: [],
    });
  });

  it.each([
    [{ type: "prompt", text: "busy" }, 409, { code: "conflict", reason: "busy" }],
    [{ type: "prompt", text: "explode" }, 503, { code: "internal" }],
    [{ type: "prompt" }, 422, { code: "invalid_field", field: "text" }],
    [{ type: "launch_missiles" }, 422, { code: "invalid_field", field: "type" }],
    [{ type: "__proto__" }, 422, { code: "invalid_field", field: "type" }],
    [{}, 422, { code: "invalid_field", field: "type" }],
    [[], 422, { code: "invalid_field" }],
    [{ type: "job_follow", job: job.id, on: true }, 422, { code: "not_supported" }],
    [{ type: "job_output", job: job.id, offset: -1 }, 422, { code: "invalid_field", field: "offset" }],
    [{ type: "job_output", job: "ffffffff" }, 404, { code: "not_found" }],
  ])("answers %j with the status %i of its error", async (body, status, error) => {
    app = await startTestApp();
    expect(await command(body)).toMatchObject({ status, json: { type: "error", ...error } });
  });

  it("needs the scopes of the command, and no others", async () => {
    app = await startTestApp({ lease: deviceLease(["view"]) });
    expect(await command({ type: "prompt", text: "ls" })).toMatchObject({
      status: 403,
      json: { code: "scope_missing" },
    });
    expect((await command({ type: "job_list" })).status).toBe(200);
    expect(app.engine.calls).toEqual([]);
  });

  it("takes a prompt with images of more than 64 KiB", async () => {
    app = await startTestApp();
    const data = "A".repeat(14 * 1024 * 1024);
    const images = [{ name: "shot.png", mime: "image/png", data }];
    expect((await command({ type: "prompt", text: "look", images })).status).toBe(200);
  });
});

describe("GET /api/jobs and /api/sessions/{id}", () => {
  it("lists jobs and reads a log by offset", async () => {
    app = await startTestApp();
    expect((await request(app.base, "GET", "/api/jobs")).json).toEqual({ jobs: [job] });
    const output = await request(app.base, "GET", `/api/jobs/${job.id}/output?offset=7&limit=5`);
    expect(output.json).toMatchObject({ type: "job_output", offset: 7, next_offset: 12, output: "xxxxx" });
    expect((await request(app.base, "GET", "/api/jobs/ffffffff/output")).status).toBe(404);
    expect((await request(app.base, "GET", `/api/jobs/${job.id}/output?offset=-1`)).json.field).toBe(
      "offset",
    );
    expect((await request(app.base, "GET", `/api/jobs/${job.id}/output?limit=x`)).json.field).toBe("limit");
  });

  it("reads a page of a transcript", async () => {
    app = await startTestApp();
    const page = await request(app.base, "GET", "/api/sessions/abc?before=12&limit=50");
    expect(page.json).toMatchObject({ records: [], before: 12, seq: 50, streaming: null });
    expect((await request(app.base, "GET", "/api/sessions/abc?limit=0")).json.field).toBe("limit");
  });
});

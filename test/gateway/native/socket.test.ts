import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { commandScopes } from "../../../src/auth/scope-table.ts";
import { createCommandTable } from "../../../src/gateway/native/command-table.ts";
import { createCommandHandlers } from "../../../src/gateway/native/commands.ts";
import { createOpenWorkspaces } from "../../../src/gateway/native/open-workspaces.ts";
import { rawRequest } from "../../helpers/http.ts";
import { openSocket, type TestSocket } from "../../helpers/socket.ts";
import { deviceLease, job, masterLease, startTestApp, type TestApp, workspaceId } from "../harness.ts";

let app: TestApp;
afterEach(() => app.close());

/** The messages that came after the snapshot, without the counts of clients. */
function after(socket: TestSocket) {
  return socket.messages.slice(1).filter((message) => message.type !== "clients");
}

describe("connecting", () => {
  it("sends the whole snapshot first, with the principal as it is", async () => {
    const lease = deviceLease(["view", "drive"]);
    app = await startTestApp({ lease });
    const socket = await openSocket(app.base);
    expect(socket.messages[0]).toMatchObject({
      type: "snapshot",
      rev: 0,
      instance: app.changeLog.instance,
      daemon: {
        version: "1.2.3",
        pid: 68119,
        version_mismatch: false,
        clients: 1,
        principal: { kind: "device", device: expect.any(String), scopes: ["view", "drive"] },
      },
      workspace: { id: workspaceId },
      jobs: [{ id: job.id }],
      update: null,
      control: { available: false },
      models: [],
      default_model: null,
      runtimes: [],
      default_runtime: "shell",
      add_agent: null,
      awake: { mode: "off", active: false, available: true },
    });
  });

  it.each([
    ["1.2.3", false],
    ["1.2.4", true],
    ["2.0.0-rc.1", true],
    ["web", false],
    ["1.2", false],
    ["", false],
  ])("compares version=%s only when it is a Sallyport version", async (version, mismatch) => {
    app = await startTestApp();
    const socket = await openSocket(app.base, { query: `?version=${encodeURIComponent(version)}` });
    expect(socket.messages[0].daemon.version_mismatch).toBe(mismatch);
  });

  it("names the master token's principal without a device", async () => {
    app = await startTestApp({ lease: masterLease() });
    const socket = await openSocket(app.base);
    expect(socket.messages[0].daemon.principal).toMatchObject({ kind: "master", device: null });
    await socket.command({ type: "prompt", text: "ls" });
    expect(app.engine.actors[0]?.by).toEqual({ device: null, name: "local" });
  });

  it("sends only what was missed, with every rev once, for a since that is still in the ring", async () => {
    app = await startTestApp();
    const first = app.changeLog.append({ type: "notice", message: "one" });
    app.changeLog.append({ type: "notice", message: "two" });
    const { instance } = app.changeLog;
    const socket = await openSocket(app.base, { query: `?since=${first}&instance=${instance}` });
    const third = app.changeLog.append({ type: "notice", message: "three" });
    await socket.waitFor((message) => message.message === "three");
    expect(socket.messages[0]).toEqual({
      type: "snapshot",
      since: first,
      rev: first + 1,
      instance,
      changes: [{ type: "notice", message: "two", rev: first + 1 }],
    });
    expect(after(socket).map((message) => message.rev)).toEqual([third]);
  });

  it.each([
    ["from the future", (rev: number) => String(rev + 1)],
    ["negative", () => "-1"],
    ["a fraction", () => "1.5"],
    ["garbage", () => "__proto__"],
    ["empty", () => ""],
    ["huge", () => "9".repeat(400)],
    ["out of the ring", () => "1"],
  ])("falls back to the whole snapshot for a since that is %s", async (_what, since) => {
    app = await startTestApp();
    for (let n = 0; n < 200; n += 1) app.changeLog.append({ type: "notice", message: "x" });
    const { rev, instance } = app.changeLog;
    const socket = await openSocket(app.base, { query: `?since=${since(rev)}&instance=${instance}` });
    expect(socket.messages[0]).toMatchObject({ type: "snapshot", workspace: { id: workspaceId } });
  });

  it("does not believe a since of another process", async () => {
    app = await startTestApp();
    app.changeLog.append({ type: "notice", message: "one" });
    for (const query of ["?since=0", "?since=0&instance=other"]) {
      const socket = await openSocket(app.base, { query });
      expect(socket.messages[0].workspace.id).toBe(workspaceId);
    }
  });

  it("answers a broken handshake with the one error shape and no socket", async () => {
    app = await startTestApp();
    const answer = await fetch(app.base).catch(() => null);
    expect(answer?.status).toBe(404);
    const text = await rawRequest(
      app,
      "GET /api/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n\r\n",
    );
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('"type":"error","code":"bad_request"');
    const unknown = await rawRequest(
      app,
      "GET /api/other HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    expect(unknown).toMatch(/^HTTP\/1\.1 404 /);
    expect(app.registry.count).toBe(0);
  });
});

describe("changes", () => {
  it("hides a tunnel's login link from a device without admin, live, in the snapshot and in what was missed", async () => {
    app = await startTestApp({ lease: deviceLease(["view"]) });
    const viewer = await openSocket(app.base);
    app.caller.lease = deviceLease();
    const admin = await openSocket(app.base);
    const { rev, instance } = app.changeLog;
    app.changeLog.append({ type: "remote", remote: app.remote });
    const isRemote = (message: { type: string }) => message.type === "remote";
    expect((await admin.waitFor(isRemote)).remote.tunnel.link).toContain("secret");
    expect((await viewer.waitFor(isRemote)).remote.tunnel.link).toBeNull();
    expect(admin.messages[0].remote.tunnel.link).toContain("secret");
    app.caller.lease = deviceLease(["view"]);
    const back = await openSocket(app.base, { query: `?since=${rev}&instance=${instance}` });
    expect(JSON.stringify([viewer.messages, back.messages])).not.toContain("secret");
    expect(back.messages[0].changes.some(isRemote)).toBe(true);
  });

  it("tells all clients when their number changes, and knows the sockets of each device", async () => {
    const lease = deviceLease();
    app = await startTestApp({ lease });
    const device = lease.principal.kind === "device" ? lease.principal.device : "";
    const one = await openSocket(app.base);
    const two = await openSocket(app.base);
    await one.waitFor((message) => message.type === "clients" && message.count === 2);
    expect(app.registry.connectedCount(device)).toBe(2);
    await two.close();
    await one.waitFor((message) => message.type === "clients" && message.count === 1);
    expect(app.registry.connectedCount(device)).toBe(1);
    expect(app.registry.connectedCount("somebody else")).toBe(0);
  });

  it("closes a device that lost the scope view before it sees another change", async () => {
    const lease = deviceLease();
    app = await startTestApp({ lease });
    const socket = await openSocket(app.base);
    lease.scopes.delete("view");
    app.changeLog.append({ type: "notice", message: "not for you" });
    expect(await socket.closed).toEqual({ code: 4403, reason: "scope_missing" });
    expect(after(socket)).toEqual([]);
  });
});

describe("commands", () => {
  const replies: readonly [Record<string, unknown>, Record<string, unknown>][] = [
    [
      { type: "prompt", text: "ls", request_id: "k1" },
      {
        type: "ack",
        request_id: "k1",
        status: "accepted",
        agent: expect.any(String),
        turn: expect.any(String),
      },
    ],
    [
      { type: "receipt", request_id: "k1" },
      { type: "receipt", request_id: "k1", status: "unknown" },
    ],
    [
      { type: "cancel", agent: "a1" },
      { type: "ack", agent: "a1" },
    ],
    [
      { type: "approve", request_id: "p1", decision: "allow" },
      { type: "ack", request_id: "p1" },
    ],
    [
      { type: "mode", tab: "t", mode: "edits" },
      { type: "ack", mode: "edits", tab: expect.any(String) },
    ],
    [{ type: "agent_start" }, { type: "ack", agent: expect.any(String), tab: expect.any(String) }],
    [
      { type: "agent_close", agent: "a1" },
      { type: "ack", agent: "a1" },
    ],
    [
      { type: "tab_create", cwd: "/srv" },
      { type: "ack", tab: expect.any(String), workspace: workspaceId },
    ],
    [
      { type: "tab_close", tab: "t1" },
      { type: "ack", tab: "t1" },
    ],
    [
      { type: "job_start", command: "npm test" },
      { type: "job_started", job: { id: job.id } },
    ],
    [{ type: "job_list" }, { type: "jobs", jobs: [{ id: job.id }] }],
    [
      { type: "job_output", job: job.id, offset: 3 },
      { type: "job_output", job: job.id, offset: 3 },
    ],
    [
      { type: "job_follow", job: job.id, on: true },
      { type: "ack", job: job.id, on: true },
    ],
    [
      { type: "job_kill", job: job.id },
      { type: "ack", job: job.id },
    ],
    [{ type: "snapshot" }, { type: "snapshot", workspace: { id: workspaceId } }],
    [{ type: "ping" }, { type: "pong", at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) }],
  ];

  it("answers each command with its own reply or an ack that carries the client_ref", async () => {
    app = await startTestApp();
    const socket = await openSocket(app.base);
    for (const [command, reply] of replies) expect(await socket.command(command)).toMatchObject(reply);
  });

  it("answers the snapshot command with what was missed, client_ref included", async () => {
    app = await startTestApp();
    const socket = await openSocket(app.base);
    const since = app.changeLog.append({ type: "notice", message: "one" });
    app.changeLog.append({ type: "notice", message: "two" });
    const { instance } = app.changeLog;
    expect(await socket.command({ type: "snapshot", since, instance })).toMatchObject({
      since,
      changes: expect.arrayContaining([expect.objectContaining({ message: "two" })]),
    });
  });

  it("answers a command without a client_ref too", async () => {
    app = await startTestApp();
    const socket = await openSocket(app.base);
    socket.send('{"type":"ping"}');
    expect(await socket.waitFor((message) => message.type === "pong")).not.toHaveProperty("client_ref");
  });

  it("turns a job that a device without approve starts into a request, and refuses what it may not do", async () => {
    app = await startTestApp({ lease: deviceLease(["view", "drive"]) });
    const socket = await openSocket(app.base);
    expect(await socket.command({ type: "job_start", command: "ls" })).toMatchObject({
      type: "ack",
      request_id: expect.any(String),
    });
    const before = app.engine.calls.length;
    for (const command of [
      { type: "approve", request_id: "p1", decision: "allow" },
      { type: "mode", tab: "t", mode: "autopilot" },
      { type: "tab_create", cwd: "/srv", mode: "edits" },
    ])
      expect(await socket.command(command)).toMatchObject({ type: "error", code: "scope_missing" });
    expect(app.engine.calls.length).toBe(before);
  });

  it("reads the scopes anew for every command", async () => {
    const lease = deviceLease();
    app = await startTestApp({ lease });
    const socket = await openSocket(app.base);
    lease.scopes.delete("drive");
    expect(await socket.command({ type: "prompt", text: "ls" })).toMatchObject({ code: "scope_missing" });
    expect(app.engine.calls).toEqual([]);
  });

  it("passes on what the engine refuses, and shows nothing of an unexpected fault", async () => {
    app = await startTestApp();
    const socket = await openSocket(app.base);
    expect(await socket.command({ type: "prompt", text: "busy" })).toMatchObject({
      type: "error",
      code: "conflict",
      reason: "busy",
    });
    const fault = await socket.command({ type: "prompt", text: "explode" });
    expect(fault).toMatchObject({ type: "error", code: "internal" });
    expect(JSON.stringify(fault)).not.toContain("secret detail");
    expect(app.logged.some(({ level }) => level === "error")).toBe(true);
  });

  it("does not let a command exist without a row in the scope table", async () => {
    app = await startTestApp();
    const { engine } = app;
    const handlers = createCommandHandlers({
      engine,
      views: app.native.views,
      openWorkspaces: createOpenWorkspaces(),
      setAwake: async (mode) => ({ mode, active: false, available: true }),
      now: Date.now,
    });
    const { ping: _ping, ...rows } = commandScopes;
    expect(() => createCommandTable(handlers, rows)).toThrow(TypeError);
    expect(() => createCommandTable(handlers, { ...commandScopes, ping: { needs: "public" } })).toThrow(
      TypeError,
    );
  });

  it("runs one connection's commands in order, and what a command causes arrives before its reply", async () => {
    app = await startTestApp();
    const anyCommand = fc.constantFrom(
      { type: "ping" },
      { type: "prompt", text: "ok" },
      { type: "prompt", text: "busy" },
      { type: "job_kill", job: job.id },
      { type: "job_output", job: job.id },
      { type: "mode", tab: "t", mode: "nonsense" },
      { type: "nonsense" },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(anyCommand, { minLength: 1, maxLength: 15 }), async (commands) => {
        const socket = await openSocket(app.base);
        commands.forEach((command, at) => {
          const unique = command.type === "prompt" && command.text === "ok" ? { text: `ok ${at}` } : {};
          socket.send(JSON.stringify({ ...command, ...unique, client_ref: `c${at}` }));
        });
        await socket.waitFor((message) => message.client_ref === `c${commands.length - 1}`);
        const refs = socket.messages.flatMap((message) => message.client_ref ?? []);
        expect(refs).toEqual(commands.map((_, at) => `c${at}`));
        commands.forEach((command, at) => {
          if (command.type !== "prompt" || command.text !== "ok") return;
          const change = socket.messages.findIndex((message) => message.message === `prompt ok ${at}`);
          const reply = socket.messages.findIndex((message) => message.client_ref === `c${at}`);
          expect(change).toBeGreaterThan(0);
          expect(change).toBeLessThan(reply);
        });
        await socket.close();
      }),
      { numRuns: 25 },
    );
  });

  it("runs what a client sent before it left", async () => {
    app = await startTestApp();
    const socket = await openSocket(app.base);
    for (let n = 0; n < 5; n += 1) socket.send(JSON.stringify({ type: "prompt", text: String(n) }));
    await socket.close();
    await expect.poll(() => app.engine.calls).toEqual([0, 1, 2, 3, 4].map((n) => `prompt ${n}`));
  });
});

describe("following a job", () => {
  it("sends the ack first, then job_more without a rev, and the last with running false", async () => {
    app = await startTestApp();
    const socket = await openSocket(app.base);
    await socket.command({ type: "job_follow", job: job.id, on: true });
    app.engine.followers.get(job.id)?.(500, true);
    app.engine.followers.get(job.id)?.(900, false);
    await socket.waitFor((message) => message.running === false);
    expect(after(socket).map(({ client_ref: _ref, ...message }) => message)).toEqual([
      { type: "ack", job: job.id, on: true },
      { type: "job_more", job: job.id, size: 0, running: true },
      { type: "job_more", job: job.id, size: 500, running: true },
      { type: "job_more", job: job.id, size: 900, running: false },
    ]);
    expect(app.engine.followers.size).toBe(0);
  });

  it("ends with the connection, or when it is switched off", async () => {
    app = await startTestApp();
    const socket = await openSocket(app.base);
    await socket.command({ type: "job_follow", job: job.id, on: true });
    await socket.command({ type: "job_follow", job: job.id, on: true });
    expect(app.engine.followers.size).toBe(1);
    await socket.command({ type: "job_follow", job: job.id, on: false });
    expect(app.engine.followers.size).toBe(0);
    await socket.command({ type: "job_follow", job: job.id, on: true });
    await socket.close();
    await expect.poll(() => app.engine.followers.size).toBe(0);
    const again = await openSocket(app.base);
    expect(await again.command({ type: "job_follow", job: "ffffffff", on: true })).toMatchObject({
      code: "not_found",
    });
  });
});

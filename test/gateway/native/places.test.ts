import { afterEach, describe, expect, it } from "vitest";
import { newId } from "../../../src/lib/ids.ts";
import { request } from "../../helpers/http.ts";
import { openSocket } from "../../helpers/socket.ts";
import { deviceLease, startTestApp, type TestApp, workspaceId } from "../harness.ts";

let app: TestApp;
afterEach(() => app.close());

const id = newId();
const command = (body: unknown) => request(app.base, "POST", "/api/command", { body });

describe("commands of workspaces and tabs", () => {
  it.each([
    [{ type: "workspace_list" }, { type: "workspaces", workspaces: [{ id: workspaceId, name: "main" }] }],
    [
      { type: "workspace_create", name: "two" },
      { type: "ack", workspace: expect.any(String), name: "two" },
    ],
    [
      { type: "workspace_open", workspace: workspaceId },
      { type: "workspace_opened", workspace: { id: workspaceId, tabs: [{ agents: [] }] } },
    ],
    [
      { type: "workspace_rename", workspace: workspaceId, name: "x" },
      { type: "ack", workspace: workspaceId, name: "x" },
    ],
    [
      { type: "workspace_delete", workspace: workspaceId },
      { type: "ack", workspace: workspaceId },
    ],
    [
      { type: "tab_rename", tab: id, name: "x" },
      { type: "ack", tab: expect.any(String), name: "x" },
    ],
    [
      { type: "tab_move", tab: id, index: 3 },
      { type: "ack", tab: expect.any(String), index: 3 },
    ],
    [
      { type: "tab_activate", tab: id },
      { type: "ack", tab: expect.any(String) },
    ],
    [{ type: "launch" }, { type: "launched", workspace: workspaceId, tab: expect.any(String) }],
    [
      { type: "launch", workspace: "new", cwd: "/srv", text: "ls", mode: "ask" },
      { type: "launched", workspace: workspaceId, tab: expect.any(String), agent: expect.any(String) },
    ],
  ])("answer %j over REST", async (body, reply) => {
    app = await startTestApp();
    expect(await command(body)).toMatchObject({ status: 200, json: reply });
  });

  it.each([
    [{ type: "launch", workspace: "other" }, /^workspace/],
    [{ type: "launch", workspace: 7 }, /^workspace/],
    [{ type: "launch", workspace: {} }, /^workspace/],
    [{ type: "launch", workspace: { name: "x", id: "y" } }, /^workspace/],
    [{ type: "launch", workspace: { name: "" } }, /^workspace/],
    [{ type: "launch", cwd: "" }, /^cwd$/],
    [{ type: "launch", mode: "yolo" }, /^mode$/],
    [{ type: "launch", text: 7 }, /^text$/],
    [{ type: "workspace_create" }, /^name$/],
    [{ type: "workspace_create", name: "x".repeat(201) }, /^name$/],
    [{ type: "workspace_open", workspace: null }, /^workspace$/],
    [{ type: "workspace_rename", workspace: id }, /^name$/],
    [{ type: "workspace_delete", workspace: "x".repeat(65) }, /^workspace$/],
    [{ type: "tab_rename", tab: id, name: "" }, /^name$/],
    [{ type: "tab_move", tab: id }, /^index$/],
    [{ type: "tab_move", tab: id, index: -1 }, /^index$/],
    [{ type: "tab_move", tab: id, index: 1.5 }, /^index$/],
    [{ type: "tab_move", tab: id, index: "0" }, /^index$/],
    [{ type: "tab_move", tab: id, index: 1e9 }, /^index$/],
    [{ type: "tab_activate" }, /^tab$/],
    [{ type: "prompt", text: "x", images: [{ name: "x" }] }, /^images/],
    [{ type: "prompt", text: "x", attachments: [{}] }, /^attachments/],
    [{ type: "prompt", text: "x", attachments: Array(65).fill({ path: "x" }) }, /^attachments/],
  ])("refuse %j and name the field", async (body, field) => {
    app = await startTestApp();
    expect(await command(body)).toMatchObject({
      status: 422,
      json: { type: "error", code: "invalid_field", field: expect.stringMatching(field) },
    });
    expect(app.engine.calls).toEqual([]);
  });

  it("need the scopes of what they do", async () => {
    app = await startTestApp({ lease: deviceLease(["view"]) });
    for (const type of ["workspace_create", "workspace_rename", "workspace_delete"])
      expect(await command({ type, workspace: workspaceId, name: "x" })).toMatchObject({ status: 403 });
    for (const type of ["tab_rename", "tab_move", "tab_activate"])
      expect(await command({ type, tab: id, name: "x", index: 0 })).toMatchObject({ status: 403 });
    expect(await command({ type: "launch" })).toMatchObject({ status: 403, json: { code: "scope_missing" } });
    expect((await command({ type: "workspace_list" })).status).toBe(200);
    expect((await command({ type: "workspace_open", workspace: workspaceId })).status).toBe(200);
    app.caller.lease = deviceLease(["view", "drive"]);
    for (const mode of ["edits", "autopilot"])
      expect(await command({ type: "launch", mode })).toMatchObject({ status: 403 });
    expect((await command({ type: "launch", mode: "ask" })).status).toBe(200);
    expect(app.engine.calls).toEqual(["launch"]);
  });
});

describe("the workspace of a connection", () => {
  it("is in use while a socket has it, and free when the last one is gone", async () => {
    app = await startTestApp();
    const one = await openSocket(app.base);
    const other = await openSocket(app.base, { query: `?workspace=${newId()}` });
    const remove = { type: "workspace_delete", workspace: workspaceId };
    expect(await one.command(remove)).toMatchObject({ code: "conflict", reason: "in_use" });
    await one.close();
    expect(await other.command(remove)).toMatchObject({ code: "conflict", reason: "in_use" });
    await other.close();
    await expect.poll(async () => (await command(remove)).status).toBe(200);
  });

  it("is still counted after a connection came back with since", async () => {
    app = await startTestApp();
    const { rev, instance } = app.changeLog;
    const socket = await openSocket(app.base, { query: `?since=${rev}&instance=${instance}` });
    expect(socket.messages[0]).toMatchObject({ changes: [] });
    expect((await command({ type: "workspace_delete", workspace: workspaceId })).status).toBe(409);
  });
});

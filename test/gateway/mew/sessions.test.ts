import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ulidOf } from "../../../src/protocol/mew/ids.ts";
import { local } from "../../engine/support/engine-fixture.ts";
import type { MewSocket } from "../../helpers/mew-socket.ts";
import type { Message } from "../../helpers/socket.ts";
import { type MewApp, newSession, promptsIn, startMew } from "./harness.ts";

let app: MewApp;
beforeEach(async () => {
  app = await startMew();
});
afterEach(() => app.close());

const typesOf = (messages: readonly Message[]): string[] => messages.map((message) => message.type);

describe("a new session", () => {
  it("is an agent in the tab of the last workspace, ready and with an empty history", async () => {
    const socket = await app.mew();
    const ready = await socket.ask({ type: "NewSession" }, "SessionReady");
    await socket.settle();
    const [tab] = app.engine.snapshot().workspace.tabs;
    expect(ready).toMatchObject({
      session_id: `sess_${ulidOf(tab?.agents[0]?.id ?? "")}`,
      provider: "shell",
      cwd: app.fixture.project,
    });
    expect(typesOf(socket.messages)).toEqual(["SessionReady", "SessionHistory", "Pong"]);
    expect(socket.messages[1]).toEqual({ type: "SessionHistory", messages: [] });
  });

  it("has no history for a client that spells in snake_case, which does not expect one", async () => {
    const socket = await app.mew("snake", "/");
    await socket.ask({ type: "new_session", cwd: null, client_kind: "web" }, "session_ready");
    await socket.settle();
    expect(typesOf(socket.messages)).toEqual(["session_ready", "thinking_variant_changed", "pong"]);
  });

  it("opens the tab for its folder, once", async () => {
    const cwd = join(app.fixture.project, "api");
    await mkdir(cwd);
    const socket = await app.mew();
    for (let n = 0; n < 2; n += 1)
      expect(await socket.ask({ type: "NewSession", cwd }, "SessionReady")).toMatchObject({ cwd });
    const { tabs } = app.engine.snapshot().workspace;
    expect(tabs.map((tab) => [tab.cwd, tab.agents.length])).toEqual([
      [app.fixture.project, 0],
      [cwd, 2],
    ]);
  });

  it.each(["/no/such/folder", "relative", "\u0000", ""])(
    "refuses the folder %j and stays without a session",
    async (cwd) => {
      const socket = await app.mew();
      expect((await socket.ask({ type: "NewSession", cwd }, "Error")).message).toMatch(/cwd/);
      expect((await socket.ask({ type: "Prompt", text: "x" }, "Error")).message).toMatch(/no session/);
      expect(app.engine.snapshot().workspace.tabs[0]?.agents).toEqual([]);
    },
  );

  it("refuses the home", async () => {
    const socket = await app.mew();
    const error = await socket.ask({ type: "NewSession", cwd: app.fixture.home }, "Error");
    expect(error.message).toMatch(/off limits/);
  });
});

describe("lists, names and marks", () => {
  it("lists sessions of both dialects, with how many watch and wait", async () => {
    const native = await app.native();
    await native.command({ type: "agent_start", label: "native one" });
    const socket = await app.mew("snake");
    const { session_id } = await socket.ask({ type: "new_session" }, "session_ready");
    socket.send({ type: "prompt", text: "ls" });
    await socket.waitFor((message) => message.type === "permission_request");
    const { sessions } = await socket.ask({ type: "list_sessions" }, "session_list");
    expect(sessions).toHaveLength(2);
    const own = sessions.find((each: Message) => each.session_id === session_id);
    expect(own).toMatchObject({
      state: "running",
      client_count: 1,
      pending_permissions: 1,
      first_message: "ls",
    });
    await socket.waitFor((message) => message.type === "group_list");
    expect(await socket.ask({ type: "list_projects" }, "project_list")).toMatchObject({
      projects: [{ path: app.fixture.project, session_count: 2 }],
    });
  });

  it("renames, pins and archives a session for everybody, also from a client without one", async () => {
    const socket = await app.mew("snake");
    const { session_id } = await socket.ask({ type: "new_session" }, "session_ready");
    const native = await app.native();
    const other = await app.mew("snake");
    other.send({ type: "rename_session", session_id, title: "Mine" });
    const title = { type: "session_title_changed", session_id, title: "Mine" };
    for (const each of [socket, other])
      expect(await each.waitFor((message) => message.type === title.type)).toEqual(title);
    other.send({ type: "pin_session", session_id, pinned: true });
    other.send({ type: "archive_session", session_id, archived: true });
    for (const each of [socket, other])
      expect(await each.waitFor((message) => message.pinned && message.archived)).toEqual({
        type: "session_meta_changed",
        session_id,
        pinned: true,
        archived: true,
      });
    await native.waitFor((message) => message.type === "session_updated" && message.session.archived);
  });

  it("tells of marks when they change, and whoever sets them as they are; of nothing else", async () => {
    const socket = await app.mew("snake");
    const { session_id } = await socket.ask({ type: "new_session" }, "session_ready");
    const other = await app.mew("snake");
    await other.ask({ type: "attach_session", session_id }, "session_history_page");
    const marks = (each: MewSocket) => each.messages.filter(({ type }) => type === "session_meta_changed");
    const marked = { type: "session_meta_changed", session_id, archived: false, pinned: true };
    await socket.ask({ type: "rename_session", session_id, title: "Mine" }, "session_title_changed");
    expect(await socket.ask({ type: "pin_session", session_id, pinned: true }, marked.type)).toEqual(marked);
    await socket.ask({ type: "rename_session", session_id, title: "Yours" }, "session_title_changed");
    expect(await socket.ask({ type: "pin_session", session_id, pinned: true }, marked.type)).toEqual(marked);
    await other.settle();
    expect([marks(socket), marks(other)]).toEqual([[marked, marked], [marked]]);
  });

  it("deletes a session: its clients are told and have none any more, its transcript is gone", async () => {
    const socket = await app.mew();
    const session_id = await newSession(socket);
    const other = await app.mew();
    await other.ask({ type: "AttachSession", session_id }, "SessionHistory");
    socket.send({ type: "DeleteSession", session_id });
    expect((await other.waitFor((message) => message.type === "Error")).message).toMatch(/deleted/);
    for (const each of [socket, other])
      expect((await each.ask({ type: "Cancel" }, "Error")).message).toMatch(/no session/);
    expect((await other.ask({ type: "AttachSession", session_id }, "Error")).message).toMatch(/not found/);
    expect((await app.engine.library.listSessions({})).sessions).toEqual([]);
  });

  it("makes a title of the first prompt, after the turn and when asked", async () => {
    app.fixture.jobs.answer = () => ({});
    const socket = await app.mew();
    const session_id = await newSession(socket);
    expect((await socket.ask({ type: "RegenerateTitle", session_id }, "Error")).message).toMatch(/no prompt/);
    socket.send({ type: "Prompt", text: "echo one\necho two" });
    const { request_id } = await socket.waitFor((message) => message.type === "PermissionRequest");
    socket.send({ type: "PermissionResponse", request_id, decision: "allow_once" });
    const made = { type: "SessionTitleChanged", session_id, title: "echo one" };
    expect(await socket.waitFor((message) => message.type === made.type)).toEqual(made);
    expect(await socket.ask({ type: "RegenerateTitle", session_id }, "SessionTitleChanged")).toEqual(made);
  });

  it("tells who is there, and pages the history", async () => {
    app.fixture.jobs.answer = () => ({});
    const one = await app.mew("snake");
    const { session_id } = await one.ask({ type: "new_session", client_kind: "web" }, "session_ready");
    const agent = app.engine.snapshot().workspace.tabs[0]?.agents[0]?.id ?? "";
    await app.engine.setMode(
      { type: "mode", tab: app.engine.snapshot().workspace.tabs[0]?.id ?? "", mode: "autopilot" },
      local,
    );
    for (let n = 0; n < 20; n += 1) {
      await app.engine.prompt({ type: "prompt", agent, text: `echo ${n}`, queue: true }, local);
      const { request_id } = await app.fixture.event(
        "permission_requested",
        (event) => event.summary === `echo ${n}`,
      );
      await app.engine.approve({ type: "approve", request_id, decision: "allow" }, local);
      await app.fixture.event(
        "tool_finished",
        () => app.fixture.events().filter((event) => event.type === "turn_finished").length > n,
      );
    }
    const two = await app.mew("snake");
    const page = await two.ask(
      { type: "attach_session", session_id, client_kind: "tui" },
      "session_history_page",
    );
    expect(page).toMatchObject({ replace: true, session_id });
    expect(page.messages.length).toBeLessThanOrEqual(24);
    let cursor = page.next_cursor;
    let prompts = promptsIn(page);
    while (cursor !== undefined) {
      const older = await two.ask(
        { type: "load_session_history", session_id, before: cursor },
        "session_history_page",
      );
      expect(older.replace).toBe(false);
      prompts = [...promptsIn(older), ...prompts];
      cursor = older.next_cursor;
    }
    expect(prompts).toEqual(Array.from({ length: 20 }, (_, n) => `echo ${n}`));
    expect(await one.waitFor((message) => message.type === "client_attached")).toEqual({
      type: "client_attached",
      client_id: 2,
      client_kind: "tui",
    });
    await two.waitFor((message) => message.type === "client_attached" && message.client_kind === "web");
    await two.close();
    expect(await one.waitFor((message) => message.type === "client_detached")).toMatchObject({
      client_id: 2,
    });
  });
});

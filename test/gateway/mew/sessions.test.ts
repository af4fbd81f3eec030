import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newId } from "../../../src/lib/ids.ts";
import { ulidOf } from "../../../src/protocol/mew/ids.ts";
import { local } from "../../engine/support/engine-fixture.ts";
import type { MewSocket } from "../../helpers/mew-socket.ts";
import type { Message } from "../../helpers/socket.ts";
import { deviceLease } from "../harness.ts";
import { type MewApp, newSession, promptsIn, startMew, turnEnded } from "./harness.ts";

const patience = { timeout: 60_000 };
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

describe("attaching", () => {
  async function promptedSession(): Promise<string> {
    const socket = await app.mew();
    const id = await newSession(socket);
    app.fixture.jobs.answer = () => ({ output: "hi\n" });
    socket.send({ type: "Prompt", text: "echo hi" });
    const { request_id } = await socket.waitFor((message) => message.type === "PermissionRequest");
    socket.send({ type: "PermissionResponse", request_id, decision: "allow_once" });
    await socket.waitFor((message) => message.type === "SessionTitleChanged");
    return id;
  }

  it.each([
    ["the session id", (id: string) => id],
    ["the bare ULID in small letters", (id: string) => id.slice(5).toLowerCase()],
    ["a UUID", () => app.engine.snapshot().workspace.tabs[0]?.agents[0]?.id ?? ""],
  ])("takes %s", async (_, form) => {
    const id = await promptedSession();
    const socket = await app.mew();
    const history = await socket.ask({ type: "AttachSession", session_id: form(id) }, "SessionHistory");
    expect(socket.messages[0]).toMatchObject({ type: "SessionReady", session_id: id });
    expect(promptsIn(history)).toEqual(["echo hi"]);
    const tool = history.messages.flatMap((message: Message) => message.parts).at(-1);
    expect(tool).toMatchObject({ type: "tool_call", state: { status: "completed", output: "hi\n" } });
  });

  it("answers again for the session that is attached", async () => {
    const id = await promptedSession();
    const socket = await app.mew();
    for (let n = 0; n < 2; n += 1)
      await socket.ask({ type: "AttachSession", session_id: id }, "SessionHistory");
    expect(typesOf(socket.messages)).toEqual([
      "SessionReady",
      "SessionHistory",
      "SessionReady",
      "SessionHistory",
    ]);
  });

  it("sends what waits for an answer behind the history, and to the clients of another session nothing", async () => {
    const first = await app.mew();
    const id = await newSession(first);
    const other = await app.mew();
    await newSession(other);
    first.send({ type: "Prompt", text: "rm file" });
    const request = await first.waitFor((message) => message.type === "PermissionRequest");
    const second = await app.mew();
    second.send({ type: "AttachSession", session_id: id });
    expect(await second.waitFor((message) => message.type === "PermissionRequest")).toEqual(request);
    expect(typesOf(second.messages)).toEqual(["SessionReady", "SessionHistory", "PermissionRequest"]);
    await other.settle();
    expect(typesOf(other.messages)).toEqual(["SessionReady", "SessionHistory", "Pong"]);
    second.send({ type: "PermissionResponse", request_id: request.request_id, decision: "deny" });
    await first.waitFor((message) => message.type === "RequestResolved");
  });

  it("sends what is to do behind the history, after a restart too, until the context is cleared", async () => {
    await app.close();
    const todos = [
      { id: "1", content: "look", status: "completed" },
      { id: "2", content: "write", status: "pending" },
    ];
    app = await startMew({
      scripts: {
        plan: [
          { type: "todos", todos },
          { type: "text_delta", text: "ok" },
        ],
      },
    });
    const first = await app.mew();
    const id = await newSession(first);
    first.send({ type: "Prompt", text: "plan" });
    const told = await first.waitFor((message) => message.type === "TodosUpdated");
    // The last that a turn is followed by.
    await first.waitFor((message) => message.type === "SessionTitleChanged");
    expect(told.todos.map(({ status }: Message) => status)).toEqual(["completed", "pending"]);
    const attached = async (): Promise<Message[]> => {
      const socket = await app.mew();
      await socket.ask({ type: "AttachSession", session_id: id }, "SessionHistory");
      await socket.settle();
      return socket.messages.slice(1).filter(({ type }) => type !== "Pong");
    };
    expect((await attached()).slice(1)).toEqual([told]);
    const real = await app.mew("snake");
    await real.ask({ type: "attach_session", session_id: id }, "session_history_page");
    const { todos: asReal } = await real.waitFor((message) => message.type === "todos_updated");
    expect(asReal.map(({ status }: Message) => status)).toEqual(["done", "pending"]);
    await app.restart();
    expect((await attached()).slice(1)).toEqual([told]);
    const again = await app.mew();
    await again.ask({ type: "AttachSession", session_id: id }, "SessionHistory");
    await again.ask({ type: "SlashCommand", command: "/clear" }, "SlashResult");
    expect(typesOf(await attached())).toEqual(["SessionHistory"]);
    await app.restart();
    expect(typesOf(await attached())).toEqual(["SessionHistory"]);
  });

  it("joins a turn in its middle: what was said is in the history, the rest follows, nothing twice", async () => {
    await app.close();
    app = await startMew({
      scripts: {
        talk: [
          { type: "text_delta", text: "one two three four five six seven eight", word_ms: 40 },
          { type: "assistant_message" },
        ],
      },
    });
    const first = await app.mew();
    const id = await newSession(first);
    first.send({ type: "Prompt", text: "talk" });
    const deltasOf = (socket: MewSocket) =>
      socket.messages.filter((message) => message.event?.type === "PartDelta");
    const joined = Array.from({ length: 6 }, async (_, n) => {
      await first.waitFor(() => deltasOf(first).length > n);
      const socket = await app.mew();
      const history = await socket.ask({ type: "AttachSession", session_id: id }, "SessionHistory");
      await first.waitFor(turnEnded);
      await socket.settle();
      const part = history.messages.at(-1).parts[0];
      const deltas = deltasOf(socket);
      expect(part.text + deltas.map(({ event }) => event.delta).join("")).toBe(
        "one two three four five six seven eight",
      );
      for (const { event } of deltas) expect(event.part_id).toBe(part.id);
      expect(socket.messages.filter((message) => message.event?.type === "PartStart")).toEqual([]);
    });
    await Promise.all(joined);
  });

  it("sees live what a native client does, and the other way round", async () => {
    const native = await app.native();
    const { agent } = await native.command({ type: "agent_start" });
    const socket = await app.mew();
    await socket.ask({ type: "AttachSession", session_id: agent }, "SessionHistory");
    app.fixture.jobs.answer = () => ({ output: "hi\n" });
    await native.command({ type: "prompt", agent, text: "echo hi" });
    const { request_id } = await socket.waitFor((message) => message.type === "PermissionRequest");
    socket.send({ type: "PermissionResponse", request_id, decision: "allow_once" });
    const resolved = await native.waitFor((message) => message.event?.type === "permission_resolved");
    expect(resolved.event).toMatchObject({ agent, allowed: true });
    await socket.waitFor(turnEnded);
  });

  it.each(["", "sess_", "nonsense", "../../etc/passwd", "sess_01M8PJENYGE6WSQ6A5AS8P9XRR", newId()])(
    "knows no session %j and keeps the one it had",
    async (session_id) => {
      const socket = await app.mew();
      await newSession(socket);
      const error = await socket.ask({ type: "AttachSession", session_id }, "Error");
      expect(error.message).toMatch(/session/);
      socket.send({ type: "Prompt", text: "ls" });
      await socket.waitFor((message) => message.type === "PermissionRequest");
    },
  );

  it("refuses the session of a subagent", async () => {
    await app.close();
    const script = [
      { type: "agent_started", agent: "helper", text: "help" },
      { type: "question_asked", agent: "helper", id: "q", questions: [{ prompt: "which?" }] },
      { type: "agent_finished", agent: "helper" },
    ];
    app = await startMew({ scripts: { sub: script } });
    const socket = await app.mew();
    await newSession(socket);
    socket.send({ type: "Prompt", text: "go" });
    const start = await socket.waitFor((message) => message.type === "SubagentStart");
    const question = await socket.waitFor((message) => message.type === "AskUserRequest");
    expect(question.subagent).toBe("helper");
    const error = await socket.ask(
      { type: "AttachSession", session_id: `sess_${start.child_session_id}` },
      "Error",
    );
    expect(error.message).toMatch(/subagent/);
    socket.send({ type: "Cancel" });
    await socket.waitFor((message) => message.type === "RequestResolved");
  });

  it("brings back a session that is on no tab, without a tab for it before it is prompted", async () => {
    const id = await promptedSession();
    const agent = app.engine.snapshot().workspace.tabs[0]?.agents[0]?.id ?? "";
    await app.engine.closeAgent(agent, local);
    const socket = await app.mew();
    const history = await socket.ask({ type: "AttachSession", session_id: id }, "SessionHistory");
    expect(promptsIn(history)).toEqual(["echo hi"]);
    expect(app.engine.snapshot().workspace.tabs[0]?.agents).toEqual([]);
    socket.send({ type: "Prompt", text: "echo again" });
    const { request_id } = await socket.waitFor((message) => message.type === "PermissionRequest");
    socket.send({ type: "PermissionResponse", request_id, decision: "allow_once" });
    await socket.waitFor(turnEnded);
    expect(app.engine.snapshot().workspace.tabs[0]?.agents[0]?.id).toBe(agent);
  });

  it("attaches a client that may only view, and lets it do nothing else", async () => {
    const id = await promptedSession();
    app.lease = deviceLease(["view"]);
    const socket = await app.mew();
    expect(promptsIn(await socket.ask({ type: "AttachSession", session_id: id }, "SessionHistory"))).toEqual([
      "echo hi",
    ]);
    const error = await socket.ask({ type: "Prompt", text: "rm -rf x" }, "Error");
    expect(error.message).toMatch(/scope "drive"/);
    expect(
      (await app.fixture.transcript(app.engine.snapshot().workspace.tabs[0]?.agents[0]?.id ?? "")).filter(
        (event) => event.type === "user_message",
      ),
    ).toHaveLength(1);
  });
});

describe("a crowd that comes back at once", () => {
  it("is told the histories a few at a time, and who left meanwhile costs nothing", async () => {
    await app.close();
    let reading = 0;
    let most = 0;
    let reads = 0;
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    let held = false;
    app = await startMew({
      wrap: (engine) => ({
        ...engine,
        async readSession(agent, page) {
          reading += 1;
          reads += 1;
          most = Math.max(most, reading);
          try {
            if (held) await gate;
            return await engine.readSession(agent, page);
          } finally {
            reading -= 1;
          }
        },
      }),
    });
    const session_id = await newSession(await app.mew());
    held = true;
    reads = 0;
    const crowd = await Promise.all(Array.from({ length: 30 }, () => app.mew()));
    const [leaver] = crowd.splice(29);
    const other = await app.mew();
    for (const socket of crowd) socket.send({ type: "AttachSession", session_id });
    await vi.waitFor(() => expect(reading).toBe(2), patience);
    leaver?.send({ type: "AttachSession", session_id });
    await other.settle();
    await leaver?.cut();
    await vi.waitFor(() => expect(app.registry.count).toBe(31), patience);
    go();
    await Promise.all(crowd.map((socket) => socket.waitFor(({ type }) => type === "SessionHistory")));
    // Two that began before the others had asked, and one for all of those.
    expect([most, reads]).toEqual([2, 3]);
  });

  it("is told the list a few at a time", async () => {
    await app.close();
    let listing = 0;
    let most = 0;
    app = await startMew({
      wrap: (engine) => ({
        ...engine,
        sessions: {
          ...engine.sessions,
          async list(max) {
            listing += 1;
            most = Math.max(most, listing);
            const rows = await engine.sessions.list(max);
            listing -= 1;
            return rows;
          },
        },
      }),
    });
    const crowd = await Promise.all(Array.from({ length: 20 }, () => app.mew()));
    await Promise.all(crowd.map((socket) => socket.ask({ type: "ListSessions" }, "SessionList")));
    expect(most).toBeLessThanOrEqual(2);
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

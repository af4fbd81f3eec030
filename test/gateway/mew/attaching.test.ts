import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newId } from "../../../src/lib/ids.ts";
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

  it("tells who attaches again of requests that are answered meanwhile, and asks none of them anew", async () => {
    await app.close();
    let held: Promise<void> | null = null;
    let reading = false;
    let go: () => void = () => undefined;
    app = await startMew({
      wrap: (engine) => ({
        ...engine,
        async readSession(agent, page) {
          reading = held !== null;
          await held;
          return engine.readSession(agent, page);
        },
      }),
    });
    const socket = await app.mew();
    const id = await newSession(socket);
    socket.send({ type: "Prompt", text: "rm file" });
    const { request_id } = await socket.waitFor((message) => message.type === "PermissionRequest");
    const other = await app.mew();
    await other.ask({ type: "AttachSession", session_id: id }, "SessionHistory");
    held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const from = socket.messages.length;
    socket.send({ type: "AttachSession", session_id: id });
    await vi.waitFor(() => expect(reading).toBe(true), patience);
    await other.ask({ type: "PermissionResponse", request_id, decision: "deny" }, "RequestResolved");
    go();
    await socket.waitFor((message) => message.type === "RequestResolved", from);
    await socket.settle();
    expect(typesOf(socket.messages.slice(from))).not.toContain("PermissionRequest");
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

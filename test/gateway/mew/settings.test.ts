import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { newId } from "../../../src/lib/ids.ts";
import { ulidOf } from "../../../src/protocol/mew/ids.ts";
import type { MewSocket } from "../../helpers/mew-socket.ts";
import { deviceLease } from "../harness.ts";
import { type MewApp, newSession, startMew, turnEnded } from "./harness.ts";

let app: MewApp;
afterEach(() => app.close());

const scripts = {
  tour: [{ type: "assistant_message", text: "{prompts} {thinking}" }],
  other: [{ type: "assistant_message", text: "other" }],
};
const says = async (socket: MewSocket, text: string): Promise<string> => {
  const from = socket.messages.length;
  socket.send({ type: "Prompt", text });
  await socket.waitFor(turnEnded, from);
  return socket.messages
    .slice(from)
    .flatMap((message) => (message.event?.type === "PartDelta" ? [message.event.delta] : []))
    .join("");
};

describe("models and thinking", () => {
  it("are listed, switched and told to every client of the session", async () => {
    app = await startMew({ scripts });
    const socket = await app.mew();
    const session_id = await newSession(socket);
    const other = await app.mew();
    await other.ask({ type: "AttachSession", session_id }, "SessionHistory");
    const { models } = await socket.ask({ type: "ListModels" }, "ModelList");
    expect(models).toMatchObject([
      { id: "replay/tour", provider: "replay", model: "tour", thinking_variants: [{ name: "low" }, {}, {}] },
      { id: "replay/other" },
    ]);
    const switched = { type: "ModelSwitched", provider: "replay", model: "other" };
    for (let n = 0; n < 2; n += 1)
      expect(
        await socket.ask({ type: "SwitchModel", provider: "replay", model: "other" }, "ModelSwitched"),
      ).toEqual(switched);
    expect(await other.waitFor((message) => message.type === "ModelSwitched")).toEqual(switched);
    expect(await says(socket, "hi")).toBe("other");
    await socket.ask({ type: "SwitchModel", provider: "", model: "tour" }, "ModelSwitched");
    const high = { type: "ThinkingVariantChanged", variant: "high" };
    for (let n = 0; n < 2; n += 1)
      expect(await socket.ask({ type: "SetThinkingVariant", variant: "high" }, high.type)).toEqual(high);
    expect(await other.waitFor((message) => message.type === high.type)).toEqual(high);
    expect(await says(socket, "hi")).toBe("2 high");
    for (const variant of ["off", "none", "", "OFF"])
      expect(await socket.ask({ type: "SetThinkingVariant", variant }, high.type)).toEqual({
        ...high,
        variant: null,
      });
    expect(await says(socket, "hi")).toBe("3 none");
  });

  it.each([
    [{ type: "SwitchModel", provider: "acme", model: "large" }, /no such model/],
    [{ type: "SwitchModel", provider: "replay", model: "" }, /no such model/],
    [{ type: "SetThinkingVariant", variant: "deep" }, /no such level/],
    [{ type: "SetThinkingVariant", variant: "budget:4096" }, /no such level/],
  ])("refuse %j", async (message, expected) => {
    app = await startMew({ scripts });
    const socket = await app.mew();
    await newSession(socket);
    expect((await socket.ask(message, "Error")).message).toMatch(expected);
  });

  it("have nothing to choose in a shell", async () => {
    app = await startMew();
    const socket = await app.mew();
    await newSession(socket);
    const error = await socket.ask({ type: "SetThinkingVariant", variant: "high" }, "Error");
    expect(error.message).toMatch(/no levels/);
    expect(
      await socket.ask({ type: "SetThinkingVariant", variant: "off" }, "ThinkingVariantChanged"),
    ).toMatchObject({
      variant: null,
    });
  });
});

describe("slash commands", () => {
  it("clear the context for every client, and compact it in a turn", async () => {
    app = await startMew({ scripts });
    const socket = await app.mew();
    const session_id = await newSession(socket);
    const other = await app.mew();
    await other.ask({ type: "AttachSession", session_id }, "SessionHistory");
    expect([await says(socket, "one"), await says(socket, "two")]).toEqual(["1 none", "2 none"]);
    const result = await socket.ask({ type: "SlashCommand", command: "/clear" }, "SlashResult");
    expect(result.text).toBe("context cleared");
    for (const each of [socket, other]) await each.waitFor((message) => message.type === "SessionCleared");
    expect((await socket.ask({ type: "AttachSession", session_id }, "SessionHistory")).messages).toEqual([]);
    expect(await says(socket, "three")).toBe("1 none");
    const from = socket.messages.length;
    await socket.ask({ type: "SlashCommand", command: "/compact" }, "SlashResult");
    await socket.waitFor((message) => message.event?.part?.type === "compaction", from);
    expect(other.messages.some((message) => message.type === "SlashResult")).toBe(false);
  });

  it("are listed with those of the project, which are prompts", async () => {
    app = await startMew();
    const folder = join(app.fixture.project, ".claude", "commands");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "greet.md"), "---\ndescription: Say hello\n---\necho hello $ARGUMENTS\n");
    app.fixture.jobs.answer = ({ command }) => ({ output: command });
    const socket = await app.mew();
    await newSession(socket);
    const help = await socket.ask({ type: "SlashCommand", command: "/help" }, "SlashResult");
    expect(help.text).toMatch(/\/clear: [^\n]+\n(.*\n)*\/greet.*: Say hello/);
    expect((await socket.ask({ type: "SlashCommand", command: "/greet you" }, "SlashResult")).text).toMatch(
      /greet/,
    );
    const { input, request_id } = await socket.waitFor((message) => message.type === "PermissionRequest");
    expect(input.command).toMatch(/^echo hello you/);
    socket.send({ type: "PermissionResponse", request_id, decision: "deny" });
    await socket.waitFor(turnEnded);
    for (const command of ["/nonsense", "", "/", "constructor", "x".repeat(100_000)])
      expect((await socket.ask({ type: "SlashCommand", command }, "SlashResult")).text).toMatch(
        /unknown command/,
      );
    expect((await socket.ask({ type: "SlashCommand", command: "/title A name" }, "SlashResult")).text).toBe(
      "title: A name",
    );
    // A shell has nothing to sum up: that is what the command says, no failure of it.
    expect((await socket.ask({ type: "SlashCommand", command: "/compact" }, "SlashResult")).text).toMatch(
      /no context/,
    );
  });

  it("are refused while the session is busy", async () => {
    app = await startMew();
    const socket = await app.mew();
    await newSession(socket);
    socket.send({ type: "Prompt", text: "ls" });
    await socket.waitFor((message) => message.type === "PermissionRequest");
    expect((await socket.ask({ type: "SlashCommand", command: "/clear" }, "Error")).message).toMatch(/busy/);
  });
});

describe("modes and other settings", () => {
  it("take the mode of the tab, and refuse one that is none", async () => {
    app = await startMew();
    const socket = await app.mew("snake");
    await socket.ask({ type: "new_session" }, "session_ready");
    const changed = (mode: string) => ({ type: "permission_mode_changed", mode });
    const set = (mode: string, answer: string) => socket.ask({ type: "set_permission_mode", mode }, answer);
    expect(await set("permissive", "permission_mode_changed")).toEqual(changed("permissive"));
    expect(await set("permissive", "permission_mode_changed")).toEqual(changed("permissive"));
    expect(app.engine.snapshot().workspace.tabs[0]?.mode).toBe("edits");
    for (const mode of ["auto", "", "everything"])
      expect((await set(mode, "error")).message).toMatch(/unknown permission mode/);
    app.lease = deviceLease(["view", "drive"]);
    const phone = await app.mew("snake");
    expect((await phone.ask({ type: "set_permission_mode", mode: "dangerous" }, "error")).message).toMatch(
      /"approve"/,
    );
  });

  it("send no title where the client wants none", async () => {
    app = await startMew({ engine: { judgeCall: () => ({ verdict: "allow", by: "test" }) } });
    app.fixture.jobs.answer = () => ({});
    const socket = await app.mew();
    await newSession(socket);
    socket.send({ type: "SetAutoTitle", enabled: false });
    socket.send({ type: "SetAutoSummary", enabled: true });
    socket.send({ type: "Prompt", text: "echo" });
    await socket.waitFor(turnEnded);
    await socket.settle();
    expect(socket.messages.some((message) => message.type === "SessionTitleChanged")).toBe(false);
  });

  it("queue a guide behind the running turn", async () => {
    app = await startMew({ engine: { judgeCall: () => ({ verdict: "allow", by: "test" }) } });
    const socket = await app.mew();
    await newSession(socket);
    socket.send({ type: "Prompt", text: "sleep 9" });
    const call = await app.fixture.jobs.nextCall();
    socket.send({ type: "Guide", text: "echo afterwards" });
    socket.send({ type: "Guide", text: "   " });
    await socket.settle();
    call.end();
    expect((await app.fixture.jobs.nextCall()).spec.command).toBe("echo afterwards");
  });
});

describe("questions", () => {
  const ask = {
    type: "question_asked",
    id: "q",
    questions: [{ prompt: "Which?", options: [{ label: "a" }] }],
  };

  it("are answered by whoever is first, and closed for the others", async () => {
    app = await startMew({ scripts: { ask: [ask, { type: "assistant_message", text: "{answer:q}" }] } });
    const [one, two, native] = [await app.mew(), await app.mew(), await app.native()];
    const session_id = await newSession(one);
    await two.ask({ type: "AttachSession", session_id }, "SessionHistory");
    one.send({ type: "Prompt", text: "x" });
    const question = await two.waitFor((message) => message.type === "AskUserRequest");
    expect(question.questions).toEqual([{ prompt: "Which?", options: [{ label: "a", description: "" }] }]);
    const { request_id } = question;
    for (const answers of [[], ["a", "b"]])
      expect((await two.ask({ type: "AskUserResponse", request_id, answers }, "Error")).message).toMatch(
        /each question/,
      );
    two.send({ type: "AskUserResponse", request_id, answers: ["mine"] });
    for (const each of [one, two]) await each.waitFor((message) => message.type === "RequestResolved");
    await native.waitFor((message) => message.event?.type === "question_resolved");
    const late = await one.ask({ type: "AskUserResponse", request_id, answers: ["late"] }, "Error");
    expect(late.message).toMatch(/Answered on/);
    expect(one.messages.filter((message) => message.type === "RequestResolved")).toHaveLength(2);
    await one.waitFor((message) => message.event?.delta === "mine");
  });

  it("are closed by cancelled, and a child's leave the parent's other requests open", async () => {
    const script = [
      { type: "agent_started", agent: "helper", text: "help" },
      { ...ask, agent: "helper" },
      { type: "assistant_message", agent: "helper", text: "done" },
      { type: "agent_finished", agent: "helper" },
      { ...ask, id: "own" },
    ];
    app = await startMew({ scripts: { sub: script } });
    const socket = await app.mew();
    const session_id = await newSession(socket);
    socket.send({ type: "Prompt", text: "x" });
    const child = await socket.waitFor((message) => message.subagent === "helper");
    // A client that comes now is asked the same, with the child's name.
    const other = await app.mew();
    await other.ask({ type: "AttachSession", session_id }, "SessionHistory");
    expect(await other.waitFor((message) => message.type === "AskUserRequest")).toEqual(child);
    socket.send({ type: "AskUserResponse", request_id: child.request_id, cancelled: true });
    const own = await socket.waitFor(
      (message) => message.type === "AskUserRequest" && message.subagent === undefined,
    );
    expect(app.engine.snapshot().questions).toHaveLength(1);
    socket.send({ type: "AskUserResponse", request_id: own.request_id, answers: [], cancelled: true });
    await socket.waitFor(turnEnded);
    expect(app.engine.snapshot().questions).toEqual([]);
  });

  it("of another session, or that do not exist, are not answered", async () => {
    app = await startMew({ scripts: { ask: [ask] } });
    const [one, two] = [await app.mew(), await app.mew()];
    await newSession(one);
    await newSession(two);
    one.send({ type: "Prompt", text: "x" });
    const { request_id } = await one.waitFor((message) => message.type === "AskUserRequest");
    for (const id of [request_id, ulidOf(newId()), "nonsense", "01K4Z0R2F6G7H8J9K0M1N2P3QZ"]) {
      for (const message of [
        { type: "AskUserResponse", request_id: id, answers: ["x"] },
        { type: "PermissionResponse", request_id: id, decision: "allow_once" },
      ])
        expect((await two.ask(message, "Error")).message).toMatch(/no such request/);
    }
    expect(app.engine.snapshot().questions).toHaveLength(1);
    expect(two.messages).not.toContainEqual({ type: "RequestResolved", request_id });
  });

  it("that nobody waits for any more, as after a restart, are closed for the client that answers", async () => {
    app = await startMew();
    const socket = await app.mew("snake");
    await socket.ask({ type: "new_session" }, "session_ready");
    const request_id = ulidOf(newId());
    for (const message of [
      { type: "ask_user_response", request_id, answers: ["x"] },
      { type: "permission_response", request_id, decision: "deny" },
    ]) {
      const from = socket.messages.length;
      await socket.ask(message, "error");
      expect(socket.messages.slice(from)).toEqual([
        { type: "request_resolved", request_id },
        { type: "error", message: expect.stringMatching(/no such request/) },
      ]);
    }
  });
});

describe("folders and files", () => {
  it("are listed and previewed below the session's folder, and nothing else is", async () => {
    app = await startMew();
    await mkdir(join(app.fixture.project, "src", "inner"), { recursive: true });
    await writeFile(join(app.fixture.project, "src", "a.ts"), "export {}\n");
    await writeFile(join(app.fixture.project, "src", ".hidden"), "x");
    await writeFile(join(app.fixture.home, "daemon.token"), "secret");
    await symlink(app.fixture.home, join(app.fixture.project, "link"));
    const socket = await app.mew("snake");
    const { session_id } = await socket.ask({ type: "new_session" }, "session_ready");
    expect(await socket.ask({ type: "list_dir", session_id, path: "src" }, "dir_listing")).toEqual({
      type: "dir_listing",
      session_id,
      path: "src",
      entries: [
        { name: "inner", is_dir: true },
        { name: "a.ts", is_dir: false, size: 10 },
      ],
    });
    const preview = { type: "read_file_preview", session_id, path: "src/a.ts" };
    expect(await socket.ask(preview, "file_preview")).toEqual({
      type: "file_preview",
      path: "src/a.ts",
      content: "export {}\n",
      truncated: false,
      language: "ts",
    });
    expect(await socket.ask({ ...preview, max_bytes: 3 }, "file_preview")).toMatchObject({
      content: "exp",
      truncated: true,
    });
    for (const path of ["/etc/passwd", "../../secret", "link/daemon.token", "src", "nothing", "\u0000"])
      expect(Object.keys(await socket.ask({ ...preview, path }, "error", "file_preview"))).toEqual([
        "type",
        "message",
      ]);
    for (const path of ["..", "/", "link", "src/a.ts"])
      await socket.ask({ type: "list_dir", session_id, path }, "error");
    expect(await socket.ask({ type: "list_filesystem_dir" }, "filesystem_dir_listing")).toMatchObject({
      entries: [{ name: "project", is_dir: true }],
    });
    await socket.ask({ type: "list_filesystem_dir", path: app.fixture.home }, "error");
    for (const type of ["git_status", "watch_workspace"])
      expect((await socket.ask({ type, session_id, enabled: true }, "error")).message).toMatch(
        /not supported/,
      );
  });
});

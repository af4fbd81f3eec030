import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { disposeDaemons, startTestDaemon, type TestDaemon } from "../helpers/daemon.ts";
import type { Message } from "../helpers/socket.ts";
import { MewClient, type Spelling } from "./support/mew-client.ts";

const slowMs = 120_000;

const words = Array.from({ length: 120 }, (_, at) => `word${at} `).join("");

let daemon: TestDaemon;
let folder: string;
const clients: MewClient[] = [];

async function client(spelling: Spelling, path?: string): Promise<MewClient> {
  const made = await MewClient.connect(daemon, spelling, path);
  clients.push(made);
  return made;
}
/** A client with a session of its own in a folder of its own. */
async function inSession(spelling: Spelling, name: string): Promise<{ me: MewClient; session_id: string }> {
  const cwd = join(folder, name);
  await mkdir(cwd, { recursive: true });
  const me = await client(spelling);
  const { session_id } = await me.ask("NewSession", { cwd }, "SessionReady");
  return { me, session_id };
}
/** Starts a job in the session by a command line with `&`, allowing it. */
async function startJob(me: MewClient, command: string): Promise<string> {
  me.send("Prompt", { text: `${command} &`, attachments: [] });
  const { request_id } = await me.next("PermissionRequest");
  me.send("PermissionResponse", { request_id, decision: "allow_once" });
  const { job_id } = await me.next("JobUpdate", ({ state }) => state === "running");
  await me.turnEnd();
  return job_id;
}

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-mew-")));
  const script = join(folder, "family.jsonl");
  await writeFile(
    script,
    [
      { type: "text_delta", text: "Let me " },
      { type: "text_delta", text: "see." },
      { type: "assistant_message" },
      { type: "todos", todos: [{ id: "1", content: "look", status: "in_progress" }] },
      { type: "tool_started", call: "sub", tool: "agent", input: { label: "reviewer" } },
      { type: "agent_started", agent: "reviewer", call: "sub", text: "review" },
      { type: "tool_started", agent: "reviewer", call: "t", tool: "bash", input: { command: "npm test" } },
      { type: "tool_finished", agent: "reviewer", call: "t", output: "ok" },
      {
        type: "question_asked",
        agent: "reviewer",
        id: "q",
        questions: [{ prompt: "How strict?", options: [{ label: "very" }] }],
      },
      { type: "agent_finished", agent: "reviewer" },
      { type: "tool_finished", call: "sub", output: "reviewed" },
      { type: "usage", input_tokens: 10, output_tokens: 5 },
      { type: "text_delta", text: "{answer:q} it was." },
      { type: "assistant_message" },
    ]
      .map((step) => JSON.stringify(step))
      .join("\n"),
  );
  const speech = join(folder, "speech.jsonl");
  await writeFile(
    speech,
    [
      { type: "thinking_delta", text: words, word_ms: 1 },
      { type: "text_delta", text: words, word_ms: 1 },
      { type: "assistant_message" },
      { type: "text_delta", text: words, word_ms: 1 },
      { type: "assistant_message" },
    ]
      .map((step) => JSON.stringify(step))
      .join("\n"),
  );
  daemon = await startTestDaemon({
    cwd: folder,
    config: [
      `[replay.family]\nscript = ${JSON.stringify(script)}\n`,
      `[replay.speech]\nscript = ${JSON.stringify(speech)}\n`,
    ].join("\n"),
  });
}, slowMs);

afterAll(async () => {
  for (const each of clients) await each.close();
  await disposeDaemons();
  await rm(folder, { recursive: true, force: true });
});

describe("clients that come in the middle of a turn", () => {
  it("miss nothing and see nothing twice, whenever they attach", { timeout: slowMs }, async () => {
    const cwd = join(folder, "speech");
    await mkdir(cwd);
    await daemon.request("POST", "/api/command", {
      body: { type: "tab_create", cwd, runtime: "replay", mode: "autopilot" },
    });
    const first = await client("camel");
    const { session_id } = await first.ask("NewSession", { cwd }, "SessionReady");
    const models = await first.ask("ListModels", {}, "ModelList");
    const { provider, model } = models.models.find((each: Message) => each.model.includes("speech"));
    await first.ask("SwitchModel", { provider, model }, "ModelSwitched");
    first.send("Prompt", { text: "speak", attachments: [] });
    await first.event("PartDelta");
    const late: MewClient[] = [];
    let over = false;
    const end = first.turnEnd().then(() => {
      over = true;
    });
    while (!over && late.length < 24) {
      const next = await client(late.length % 2 === 0 ? "snake" : "camel");
      await next.ask("AttachSession", { session_id }, "SessionReady");
      late.push(next);
    }
    expect(late.length).toBeGreaterThan(0);
    await end;
    const screens: [string, string][][] = [];
    for (const each of [first, ...late]) {
      await each.ask("Ping", {}, "Pong");
      screens.push([...each.screen()].sort());
    }
    const after = await client("snake");
    await after.ask("AttachSession", { session_id }, "SessionReady");
    await after.ask("Ping", {}, "Pong");
    const whole = [...after.screen()].sort();
    expect(whole.map(([, text]) => text)).toEqual([words, words, words]);
    for (const screen of screens) expect(screen).toEqual(whole);
  });
});

describe.each(["camel", "snake"] as const)("a client in the spelling %s", (spelling) => {
  it("is alive, learns version and wire revision, and outlives what is wrong", {
    timeout: slowMs,
  }, async () => {
    const me = await client(spelling, "/");
    expect(await me.ask("Ping", {}, "Pong")).toMatchObject({
      version: expect.any(String),
      protocol_version: 3,
    });
    for (const wrong of [
      "",
      "nonsense",
      "[]",
      '"ping"',
      '{"type":7}',
      '{"type":"nope"}',
      '{"type":"prompt"}',
    ]) {
      me.sendRaw(wrong);
      expect(await me.next("Error")).toEqual({ type: me.tag("Error"), message: expect.stringMatching(/./) });
    }
    me.send("Prompt", { text: "before any session", attachments: [] });
    expect(await me.next("Error")).toMatchObject({ message: expect.stringContaining("no session") });
    me.send("AttachSession", { session_id: "sess_01K4Z0Q8M7D3T5V9X1B2C3D4E5" });
    expect(await me.next("Error")).toMatchObject({ message: expect.stringContaining("session not found") });
    await me.ask("Ping", {}, "Pong");
  });

  it("makes a session, prompts it, answers its permission and sees it to the end", {
    timeout: slowMs,
  }, async () => {
    const { me, session_id } = await inSession(spelling, "prompts");
    expect(session_id).toMatch(/^sess_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    if (spelling === "camel") expect((await me.next("SessionHistory")).messages).toEqual([]);
    me.send("Prompt", { text: "echo hello; exit 3", attachments: [] });
    const started = await me.event("PartStart");
    expect(started.event.part).toMatchObject({
      type: "tool_call",
      tool_name: "bash",
      session_id: session_id.slice("sess_".length),
      state: { status: "pending", input: { command: "echo hello; exit 3" } },
    });
    const { call_id } = await me.next("ToolStart");
    expect(call_id).toBe(started.event.part.call_id);
    const request = await me.next("PermissionRequest");
    expect(request).toEqual({
      type: me.tag("PermissionRequest"),
      request_id: expect.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      tool_name: "bash",
      input: { command: "echo hello; exit 3" },
    });
    me.send("Prompt", { text: "echo second", attachments: [] });
    expect(await me.next("Error")).toMatchObject({ message: expect.stringContaining("turn in progress") });
    me.send("PermissionResponse", { request_id: request.request_id, decision: "allow_once" });
    await me.next("RequestResolved", ({ request_id }) => request_id === request.request_id);
    expect(await me.next("ToolProgress")).toMatchObject({ call_id, chunk: "hello\n" });
    const updated = await me.next("PartUpdated", ({ part }) => part.state.status !== "running");
    expect(updated).toMatchObject({
      part_id: started.event.part.id,
      part: { call_id, state: { status: "error", error: expect.stringContaining("hello") } },
    });
    expect(await me.next("ToolEnd")).toEqual({ type: me.tag("ToolEnd"), call_id, success: false });
    await me.turnEnd();
    me.send("PermissionResponse", { request_id: request.request_id, decision: "allow_once" });
    await me.next("Error");

    const other = await client(spelling);
    const ready = await other.ask("AttachSession", { session_id }, "SessionReady");
    expect(ready).toMatchObject({ session_id, provider: "shell" });
    await other.ask("Ping", {}, "Pong");
    expect(other.history().map(({ role, parts }: Message) => [role, parts[0].type])).toEqual([
      ["user", "text"],
      ["assistant", "tool_call"],
    ]);
    expect(other.history()[1].parts[0].id).toBe(started.event.part.id);
    const { sessions } = await other.ask("ListSessions", {}, "SessionList");
    expect(sessions.find((each: Message) => each.session_id === session_id)).toMatchObject({
      first_message: "echo hello; exit 3",
      client_count: 2,
      cwd: join(folder, "prompts"),
    });
    const { projects } = await other.ask("ListProjects", {}, "ProjectList");
    expect(projects.map(({ path }: Message) => path)).toContain(join(folder, "prompts"));
    expect((await other.ask("ListModels", {}, "ModelList")).models).toEqual(expect.any(Array));
  });

  it("holds a receipt that outlives its connection, and starts nothing twice", {
    timeout: slowMs,
  }, async () => {
    const { me, session_id } = await inSession(spelling, "receipts");
    const submit = (from: MewClient, request_id: string, text: string) =>
      from.ask("SubmitPrompt", { session_id, request_id, text, attachments: [] }, "PromptReceipt");
    const receipt = { type: me.tag("PromptReceipt"), session_id };
    expect(await submit(me, "k1", "echo one")).toEqual({ ...receipt, request_id: "k1", status: "accepted" });
    const { request_id } = await me.next("PermissionRequest");
    expect(await submit(me, "k2", "echo two")).toEqual({ ...receipt, request_id: "k2", status: "accepted" });
    expect(await submit(me, "k3", "echo three")).toMatchObject({
      ...receipt,
      request_id: "k3",
      status: "rejected",
    });
    expect(await submit(me, "k1", "something else")).toEqual({
      ...receipt,
      request_id: "k1",
      status: "accepted",
    });
    await me.close();

    // Reconnected, in the other spelling, while another session is attached.
    const { me: again } = await inSession(spelling === "camel" ? "snake" : "camel", "elsewhere");
    const read = (key: string) =>
      again.ask("ReadPromptReceipt", { session_id, request_id: key }, "PromptReceipt");
    expect(await read("k1")).toMatchObject({ session_id, request_id: "k1", status: "accepted" });
    expect(await read("k3")).toMatchObject({ status: "rejected", message: expect.stringMatching(/./) });
    expect(await read("k9")).toMatchObject({ request_id: "k9", status: "unknown" });

    await again.ask("AttachSession", { session_id }, "SessionReady");
    const shown = await again.next("PermissionRequest");
    expect(shown.request_id).toBe(request_id);
    again.send("PermissionResponse", { request_id, decision: "deny" });
    expect(await again.next("ToolEnd")).toMatchObject({ success: false });
    const next = await again.next("PermissionRequest");
    expect(next.input).toEqual({ command: "echo two" });
    again.send("Cancel");
    await again.next("RequestResolved", (message) => message.request_id === next.request_id);
    expect(await again.next("ErrorEvent")).toMatchObject({ message: expect.stringContaining("cancel") });
    await again.ask("AttachSession", { session_id }, "SessionReady");
    await again.ask("Ping", {}, "Pong");
    const prompts = again.history().filter(({ role }: Message) => role === "user");
    expect(prompts.map(({ parts }: Message) => parts[0].text)).toEqual(["echo one", "echo two"]);
  });

  it("reads a job's output by bytes, whole characters at a time", { timeout: slowMs }, async () => {
    const { me, session_id } = await inSession(spelling, "jobs");
    const job_id = await startJob(me, "printf 'a€b'");
    await me.next("JobUpdate", (message) => message.job_id === job_id && message.state === "completed");
    let asked = 0;
    const read = (offset: unknown, answer: string, more: object = {}) => {
      asked += 1;
      return me.ask(
        "ReadJobOutput",
        { session_id, job_id, request_id: `r${asked}`, offset, ...more },
        answer,
      );
    };
    const ids = { session_id, job_id };
    expect(await read(0, "JobOutput")).toEqual({
      type: me.tag("JobOutput"),
      ...ids,
      request_id: "r1",
      offset: 0,
      next_offset: 5,
      output: "a€b",
      done: true,
      incomplete: false,
    });
    expect(await read(4, "JobOutput")).toMatchObject({ next_offset: 5, output: "b", done: true });
    expect(await read(5, "JobOutput")).toMatchObject({ next_offset: 5, output: "", done: true });
    for (const offset of [-1, 2, 3, 6, 1e15, 1.5, "0", null])
      expect(await read(offset, "JobOutputError")).toEqual({
        type: me.tag("JobOutputError"),
        ...ids,
        request_id: `r${asked}`,
        message: expect.stringMatching(/./),
      });
    expect(await read(0, "JobOutputError", { job_id: "00000000" })).toMatchObject({ job_id: "00000000" });
    const { me: stranger, session_id: other } = await inSession(spelling, "others");
    const foreign = await stranger.ask(
      "ReadJobOutput",
      { session_id: other, job_id, request_id: "x", offset: 0 },
      "JobOutputError",
    );
    expect(foreign).toMatchObject({ session_id: other, job_id, request_id: "x" });
  });

  it("clears and names a session, for every client of it", { timeout: slowMs }, async () => {
    const { me, session_id } = await inSession(spelling, "names");
    const other = await client(spelling);
    await other.ask("AttachSession", { session_id }, "SessionReady");
    me.send("Prompt", { text: "true", attachments: [] });
    const { request_id } = await other.next("PermissionRequest");
    other.send("PermissionResponse", { request_id, decision: "allow_session" });
    await me.turnEnd();
    me.send("RegenerateTitle", { session_id });
    expect(await other.next("SessionTitleChanged")).toMatchObject({ session_id, title: "true" });
    expect(await me.ask("SlashCommand", { command: "/nonsense" }, "SlashResult")).toMatchObject({
      text: expect.stringContaining("unknown command"),
    });
    me.send("SlashCommand", { command: "/clear" });
    await other.next("SessionCleared");
    await me.next("SlashResult");
    await other.ask("AttachSession", { session_id }, "SessionReady");
    await other.ask("Ping", {}, "Pong");
    expect(other.history()).toEqual([]);
    expect(await me.ask("SetThinkingVariant", { variant: "off" }, "ThinkingVariantChanged")).toMatchObject({
      variant: null,
    });
    me.send("SwitchModel", { provider: "nobody", model: "nothing" });
    expect(await me.next("Error")).toMatchObject({
      message: expect.stringContaining("failed to switch model"),
    });
  });

  it("sees a subagent work and answers its question; an agent's words come piece by piece", {
    timeout: slowMs,
  }, async () => {
    const cwd = join(folder, `family-${spelling}`);
    await mkdir(cwd);
    const made = await daemon.request("POST", "/api/command", {
      body: { type: "tab_create", cwd, runtime: "replay", mode: "autopilot" },
    });
    expect(made.status).toBe(200);
    const me = await client(spelling);
    const { session_id, provider } = await me.ask("NewSession", { cwd }, "SessionReady");
    expect(provider).toBe("replay");
    me.send("Prompt", { text: "go", attachments: [] });
    const { event } = await me.event("PartStart");
    expect(event.part).toMatchObject({ type: "text", text: "" });
    const pieces = [await me.event("PartDelta"), await me.event("PartDelta")].map((each) => each.event);
    expect(pieces).toMatchObject([
      { part_id: event.part.id, field: "text", delta: "Let me " },
      { part_id: event.part.id, field: "text", delta: "see." },
    ]);
    await me.event("PartEnd", ({ part_id }) => part_id === event.part.id);
    expect(await me.next("TodosUpdated")).toMatchObject({
      todos: [{ id: 1, content: "look", status: "in_progress", depends_on: [] }],
    });
    await me.event("MessageEnd", ({ finish }) => finish === "tool_use");
    const { call_id } = await me.next("ToolStart");
    const start = await me.next("SubagentStart");
    expect(start).toMatchObject({ parent_call_id: call_id, name: "reviewer", display_name: null });
    expect(await me.next("SubagentStatus")).toMatchObject({ parent_call_id: call_id, tool_name: "bash" });
    const question = await me.next("AskUserRequest");
    expect(question).toMatchObject({ questions: [{ prompt: "How strict?" }], subagent: "reviewer" });

    // One that comes now is asked, too, and may answer.
    const other = await client(spelling);
    await other.ask("AttachSession", { session_id }, "SessionReady");
    expect(await other.next("AskUserRequest")).toEqual(question);
    other.send("AskUserResponse", { request_id: question.request_id, answers: ["very"], cancelled: false });
    await me.next("RequestResolved", ({ request_id }) => request_id === question.request_id);
    expect(await me.next("SubagentEnd")).toMatchObject({
      parent_call_id: call_id,
      child_session_id: start.child_session_id,
      outcome: "completed",
    });
    await me.event("PartDelta", ({ delta }) => delta === "very it was.");
    const end = await me.turnEnd();
    expect(end.event.usage).toMatchObject({ input: expect.any(Number), output: expect.any(Number) });
  });
});

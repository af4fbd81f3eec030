import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AgentLab, killProcesses, processesWith, startAgentLab } from "../helpers/agent-lab.ts";
import type { Message } from "../helpers/socket.ts";
import { prepareQwen, qwenScenes } from "./support/qwen-scenes.ts";

const module = (path: string) => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url));
const qwen = module("@qwen-code/qwen-code/cli.js");
const everything = module("@modelcontextprotocol/server-everything/dist/index.js");
const key = "sk-lab-0123456789abcdef";
const wrongKey = "sk-wrong-0123456789abcd";

/** A phone that drives a real coding agent of others through the daemon, with a model of the test on loopback. */
describe("Qwen Code behind the gate", { timeout: 120_000 }, () => {
  let lab: AgentLab;
  let agent: string;

  beforeAll(async () => {
    lab = await startAgentLab({
      name: "qwen",
      command: process.execPath,
      args: [qwen, "--acp", "--auth-type=openai"],
      env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "test-model" }),
      keys: { OPENAI_API_KEY: key },
      scenes: qwenScenes,
      prepare: prepareQwen,
      config: [
        "[mcp_servers.everything]",
        `command = ${JSON.stringify(process.execPath)}`,
        `args = ${JSON.stringify([everything])}`,
      ].join("\n"),
    });
    agent = await lab.startAgent();
  }, 60_000);
  afterAll(() => lab.close());

  const isA = (type: string) => (event: Message) => event.type === type;
  const textOf = (events: readonly Message[]) =>
    events.filter(isA("assistant_message")).map(({ message }) => message.text);
  const file = (name: string) => join(lab.project, name);
  const processes = () => processesWith(qwen, lab.root);

  it("asks the phone before it writes a file, and writes it when that is allowed; a mew client sees all", async () => {
    const mew = await lab.mew();
    mew.send({ type: "AttachSession", session_id: agent });
    const turn = await lab.prompt(agent, "write it");
    const asked = await turn.event(isA("permission_requested"));
    expect(asked).toMatchObject({ tool: "edit", summary: file("hello.txt"), cwd: lab.project });
    expect(asked.input.diff).toContain("+hello");
    const seen = await mew.waitFor((each) => each.type === "PermissionRequest");
    expect(JSON.stringify(seen)).toContain(file("hello.txt"));
    expect(existsSync(file("hello.txt"))).toBe(false);
    await lab.answer(asked, "allow");
    expect(await turn.end()).toMatchObject({ outcome: "done" });
    expect(await readFile(file("hello.txt"), "utf8")).toBe("hello\n");
    // The agent asks, and then writes through us: one question, not two.
    expect(turn.events().filter(isA("permission_requested"))).toHaveLength(1);
    expect(textOf(turn.events())).toEqual(["I write the file now.", "Written."]);
    const finished = turn.events().find(isA("tool_finished"));
    expect(finished).toMatchObject({ tool: "edit", is_error: false });
    expect(finished.diff.patch).toContain("+hello");
    await mew.waitFor((each) => each.type === "RequestResolved");
    await mew.waitFor((each) => JSON.stringify(each).includes("Written."));
    await mew.close();
  });

  it("writes nothing when the phone says no, tells the model so, and goes on", async () => {
    const turn = await lab.prompt(agent, "write the secret");
    await lab.answer(await turn.event(isA("permission_requested")), "deny");
    expect(await turn.end()).toMatchObject({ outcome: "done" });
    expect(turn.events().find(isA("tool_finished"))).toMatchObject({ is_error: true, output: "Denied." });
    expect(textOf(turn.events())).toEqual(["Then not."]);
    expect(existsSync(file("secret.txt"))).toBe(false);
  });

  it("is cancelled in the middle of its answer, and takes the next prompt", async () => {
    const turn = await lab.prompt(agent, "talk for ever");
    await turn.event(isA("text_delta"));
    await lab.phone.command({ type: "cancel", agent });
    expect(await turn.end()).toMatchObject({ outcome: "cancelled" });
    const next = await lab.allowAll(agent, "what was said");
    expect(textOf(next.events()).join()).toContain("write it");
  });

  it("closes its request when the turn is cancelled: it cannot be answered later, and nothing is written", async () => {
    const turn = await lab.prompt(agent, "wait for me");
    const asked = await turn.event(isA("permission_requested"));
    await lab.phone.command({ type: "cancel", agent });
    expect(await turn.end()).toMatchObject({ outcome: "cancelled" });
    expect(turn.events().find(isA("permission_resolved"))).toMatchObject({ allowed: false, by: null });
    expect(await lab.answer(asked, "allow")).toMatchObject({ type: "error", code: "conflict" });
    expect(existsSync(file("waits.txt"))).toBe(false);
  });

  it("shows its plan, runs a command that was allowed, and puts a question to the phone", async () => {
    const plan = await lab.allowAll(agent, "make a plan");
    expect(plan.events().find(isA("todos"))?.todos).toMatchObject([
      { content: "Look", status: "in_progress" },
      { content: "Write", status: "pending" },
    ]);
    const run = await lab.prompt(agent, "run it");
    const asked = await run.event(isA("permission_requested"));
    expect(asked).toMatchObject({ tool: "bash", summary: "cp hello.txt copy.txt && echo from-the-shell" });
    await lab.answer(asked, "allow");
    await run.end();
    expect(run.events().find(isA("tool_finished")).output).toContain("from-the-shell");
    expect(textOf(run.events())).toEqual(["It ran."]);
    expect(await readFile(file("copy.txt"), "utf8")).toBe("hello\n");
    const question = await lab.prompt(agent, "ask me");
    const put = await question.event(isA("question_asked"));
    expect(put.questions).toMatchObject([
      { prompt: "Which store?", options: [{ label: "sqlite" }, { label: "postgres" }] },
    ]);
    await lab.phone.command({ type: "answer", request_id: put.request_id, answers: ["postgres"] });
    await question.end();
    expect(textOf(question.events()).join()).toContain("postgres");
  });

  it("is told of the MCP servers of the configuration, and calls their tools", async () => {
    const turn = await lab.allowAll(agent, "ask the server");
    expect(await turn.end()).toMatchObject({ outcome: "done" });
    expect(textOf(turn.events())).toEqual(["It said: Echo: hello server"]);
    expect(processesWith(everything, lab.root).length).toBeGreaterThan(0);
  });

  it("is killed in the middle of a turn: the turn fails with the reason, and the next prompt goes on where it was", async () => {
    const turn = await lab.prompt(agent, "talk for ever");
    await turn.event(isA("text_delta"));
    killProcesses(processes());
    const end = await turn.end();
    expect(end).toMatchObject({ outcome: "failed", error: expect.stringContaining("Qwen Code") });
    const next = await lab.allowAll(agent, "what was said");
    expect(await next.end()).toMatchObject({ outcome: "done" });
    expect(textOf(next.events()).join()).toContain("write it");
    const page = (await lab.daemon.request("GET", `/api/sessions/${agent}?limit=500`)).json;
    const turns = (type: string) => page.records.filter(isA(type)).map(({ turn: id }: Message) => id);
    expect(turns("turn_finished")).toEqual(turns("turn_started"));
  });

  it("leaves nothing behind when the daemon is killed, and remembers the conversation after its restart", async () => {
    const before = processes();
    expect(before.length).toBeGreaterThan(0);
    await lab.crashDaemon();
    await expect
      .poll(() => processes().filter((pid) => before.includes(pid)), { timeout: 60_000 })
      .toEqual([]);
    const next = await lab.allowAll(agent, "what was said");
    expect(textOf(next.events()).join()).toContain("write it");
    expect(processes().length).toBeGreaterThan(0);
  });

  it("keeps its key from every event, log, answer and command line; a refused key is not quoted", async () => {
    // Some agents print their environment, and some servers quote the key that they refuse.
    const told = await lab.allowAll(agent, "tell the key");
    expect(textOf(told.events())).toEqual(["It is [secret], in pieces."]);
    await lab.keep({ OPENAI_API_KEY: wrongKey });
    const other = await lab.startAgent();
    const turn = await lab.prompt(other, "write it");
    const end = await turn.end();
    expect(end).toMatchObject({ outcome: "failed", error: expect.stringContaining("401") });
    expect(lab.model.requests.at(-1)?.key).toBe(wrongKey);
    expect(JSON.stringify((await lab.daemon.request("GET", "/api/models")).json)).toContain(
      "credentials.toml",
    );

    const answers = await Promise.all(
      [
        "models",
        "settings",
        "snapshot",
        "sessions",
        "tools",
        "usage",
        "jobs",
        `sessions/${agent}`,
        "daemon",
      ].map(async (path) => (await lab.daemon.request("GET", `/api/${path}`)).text),
    );
    const commandLines = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, "utf8");
        } catch {
          return "";
        }
      });
    const files = readdirSync(lab.home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== "credentials.toml")
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
    expect(files.length).toBeGreaterThan(5);
    const everywhere = [...answers, ...commandLines, ...files, lab.daemon.output()];
    everywhere.push(...lab.phone.messages.map((message) => JSON.stringify(message)));
    for (const secret of [key, wrongKey])
      expect(everywhere.filter((text) => text.includes(secret)).map((text) => text.slice(0, 300))).toEqual(
        [],
      );
  });

  it("says what to do when it has no key", async () => {
    await lab.keep({ OTHER: "value-of-no-use" });
    const bare = await lab.prompt(await lab.startAgent(), "write it");
    expect(await bare.end()).toMatchObject({
      outcome: "failed",
      error: expect.stringContaining("qwen auth"),
    });
  });
});

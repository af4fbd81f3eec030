import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AgentLab, killProcesses, processesWith, startAgentLab } from "../helpers/agent-lab.ts";
import type { Message } from "../helpers/socket.ts";
import { type Feature, testedAgents } from "./agents.ts";

/** One agent, named by the environment: scripts/test-agents.js installs it and runs this file. */
const name = process.env.SALLYPORT_TEST_AGENT ?? "";
const folder = process.env.SALLYPORT_TEST_AGENT_FOLDER ?? "";
const agentUnderTest = testedAgents[name];
if (!agentUnderTest)
  throw new Error(`SALLYPORT_TEST_AGENT names none of: ${Object.keys(testedAgents).join(", ")}`);
const { lacks, lab: labOf } = agentUnderTest;
const everything = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);
const key = "sk-lab-0123456789abcdef";

describe(name, { timeout: 180_000 }, () => {
  let lab: AgentLab;
  let agent: string;

  beforeAll(async () => {
    lab = await startAgentLab({
      ...labOf(folder),
      config: [
        "[mcp_servers.everything]",
        `command = ${JSON.stringify(process.execPath)}`,
        `args = ${JSON.stringify([everything])}`,
      ].join("\n"),
    });
    agent = await lab.startAgent();
  }, 60_000);
  afterAll(() => lab.close(), 60_000);

  function feature(title: Feature, run: () => Promise<void>): void {
    if (lacks[title] === undefined) it(title, run);
  }
  const isA = (type: string) => (event: Message) => event.type === type;
  const said = (events: readonly Message[]): string =>
    events
      .filter(isA("assistant_message"))
      .map(({ message }) => message.text)
      .join("\n");
  const file = (path: string) => join(lab.project, path);
  const processes = () => processesWith("", `HOME=${lab.userHome}`).filter((pid) => pid !== lab.daemon.pid);

  feature("turn", async () => {
    const turn = await lab.allowAll(agent, "say hello");
    expect(await turn.end()).toMatchObject({ outcome: "done" });
    expect(said(turn.events())).toContain("Hello from the model.");
  });

  feature("permission", async () => {
    const turn = await lab.prompt(agent, "write it");
    const asked = await turn.event(isA("permission_requested"));
    expect(existsSync(file("hello.txt"))).toBe(false);
    await lab.answer(asked, "allow");
    expect(await turn.end()).toMatchObject({ outcome: "done" });
    expect(await readFile(file("hello.txt"), "utf8")).toBe("hello\n");
    expect(turn.events().filter(isA("permission_requested"))).toHaveLength(1);
    expect(turn.events().find(isA("tool_finished"))).toMatchObject({ is_error: false });
  });

  feature("denial", async () => {
    const turn = await lab.prompt(agent, "write the secret");
    await lab.answer(await turn.event(isA("permission_requested")), "deny");
    await turn.end();
    expect(existsSync(file("secret.txt"))).toBe(false);
    const next = await lab.allowAll(agent, "say hello");
    expect(await next.end()).toMatchObject({ outcome: "done" });
  });

  feature("cancel", async () => {
    const turn = await lab.prompt(agent, "talk for ever");
    await turn.event(isA("text_delta"));
    await lab.phone.command({ type: "cancel", agent });
    expect(await turn.end()).toMatchObject({ outcome: "cancelled" });
    const next = await lab.allowAll(agent, "what was said");
    expect(said(next.events())).toContain("write it");
  });

  feature("resume", async () => {
    const turn = await lab.prompt(agent, "talk for ever");
    await turn.event(isA("text_delta"));
    killProcesses(processes());
    expect(await turn.end()).toMatchObject({ outcome: "failed" });
    const next = await lab.allowAll(agent, "what was said");
    expect(await next.end()).toMatchObject({ outcome: "done" });
    expect(said(next.events())).toContain("write it");
  });

  feature("restart", async () => {
    const before = processes();
    await lab.crashDaemon();
    await expect
      .poll(() => processes().filter((pid) => before.includes(pid)), { timeout: 60_000 })
      .toEqual([]);
    const next = await lab.allowAll(agent, "what was said");
    expect(said(next.events())).toContain("write it");
  });

  feature("command", async () => {
    const turn = await lab.prompt(agent, "run it");
    const asked = await turn.event(isA("permission_requested"));
    expect(asked).toMatchObject({ tool: "bash" });
    expect(asked.summary).toContain("touch copy.txt && echo from-the-shell");
    await lab.answer(asked, "allow");
    expect(await turn.end()).toMatchObject({ outcome: "done" });
    expect(existsSync(file("copy.txt"))).toBe(true);
    expect(said(turn.events())).toContain("It ran.");
  });

  feature("plan", async () => {
    const turn = await lab.allowAll(agent, "make a plan");
    expect(turn.events().findLast(isA("todos"))?.todos).toMatchObject([
      { content: "Look", status: "in_progress" },
      { content: "Write", status: "pending" },
    ]);
  });

  feature("mcp", async () => {
    const turn = await lab.allowAll(agent, "ask the server");
    expect(await turn.end()).toMatchObject({ outcome: "done" });
    expect(said(turn.events())).toContain("Echo: hello server");
  });

  feature("keys", async () => {
    const turn = await lab.allowAll(agent, "tell the key");
    expect(said(turn.events())).toContain("It is [secret], in pieces.");
    const files = readdirSync(lab.home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== "credentials.toml")
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
    const heard = lab.phone.messages.map((message) => JSON.stringify(message));
    expect([...files, ...heard].filter((text) => text.includes(key))).toEqual([]);
  });

  feature("end", async () => {
    expect(processes().length).toBeGreaterThan(0);
    await lab.phone.command({ type: "agent_close", agent });
    await expect.poll(processes, { timeout: 60_000 }).toEqual([]);
  });
});

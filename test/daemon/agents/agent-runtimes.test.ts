import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Config } from "../../../src/config/config.ts";
import { parseConfig } from "../../../src/config/parse-config.ts";
import { type AgentRuntimes, createAgentRuntimes } from "../../../src/daemon/agents/agent-runtimes.ts";
import type { AcpAgentSpec, AcpRuntimeDeps } from "../../../src/engine/runtimes/acp/agent-spec.ts";
import type { TurnContext, TurnOutcome } from "../../../src/engine/runtimes/runtime.ts";
import { SallyportError } from "../../../src/errors.ts";

const key = "sk-kept-0123456789";
const other = "sk-other-0123456789";

let root: string;
let config: Config;
let nowMs: number;
let protectedSecrets: string[];
let runtimes: AgentRuntimes;
/** What the fake of an agent was started with, and how its next turn ends. */
let specs: Map<string, () => AcpAgentSpec>;
let deps: AcpRuntimeDeps;
let outcome: TurnOutcome | SallyportError;
let closed: string[];

const configure = (text: string): void => {
  config = parseConfig(text, { path: "config.toml", userHome: root });
};
const credentialsPath = () => join(root, "credentials.toml");
async function keep(text: string, mode = 0o600): Promise<void> {
  await writeFile(credentialsPath(), text);
  await chmod(credentialsPath(), mode);
}
const row = (name: string) => runtimes.find(name)?.about?.();
const turn = { signal: new AbortController().signal } as TurnContext;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "sallyport-agent-runtimes-"));
  await writeFile(join(root, "agent"), "#!/bin/sh\n", { mode: 0o755 });
  nowMs = 0;
  protectedSecrets = [];
  specs = new Map();
  closed = [];
  outcome = { outcome: "done" };
  configure(`[agents.mine]\ncommand = "${root}/agent"\n`);
  runtimes = createAgentRuntimes({
    config: () => config,
    credentialsPath: credentialsPath(),
    create(name, spec, given) {
      specs.set(name, spec);
      deps = given;
      return {
        name,
        needsTrust: true,
        takesModel: true,
        checkPrompt: () => undefined,
        async runTurn() {
          if (outcome instanceof SallyportError) throw outcome;
          return outcome;
        },
        close: async () => void closed.push(name),
        probe: async () => {
          throw new Error("not here");
        },
      };
    },
    protect: (secret) => protectedSecrets.push(secret),
    monotonicNow: () => nowMs,
    jobs: null as never,
    environment: { PATH: "/nowhere", HOME: root, OPENAI_API_KEY: "of-the-environment" },
    homeFolder: root,
    now: () => 0,
    report: () => undefined,
  });
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe("the runtimes of agents", () => {
  it("tell of their last failure without the keys that it quotes, whatever these are called", async () => {
    await keep(`[agents.mine]\nPHRASE = "${key}"\n`);
    specs.clear();
    const runtime = runtimes.find("mine");
    specs.get("mine")?.();
    outcome = { outcome: "failed", error: `the server does not take ${key}` };
    expect(await runtime?.runTurn(turn)).toEqual({
      outcome: "failed",
      error: "the server does not take [secret]",
    });
    outcome = new SallyportError("not_supported", `the server does not take ${key}`);
    await expect(runtime?.runTurn(turn)).rejects.toThrow("the server does not take [secret]");
    expect(row("mine")?.message).toContain("does not take [secret]");
    expect(specs.get("mine")?.().secrets).toEqual([key]);
  });

  it("come and go with the configuration, without a restart", () => {
    const before = runtimes.list().map(({ name }) => name);
    expect(before).toContain("mine");
    expect(runtimes.find("mine")).toBe(runtimes.list()[0]);
    expect(runtimes.find("acp")?.name).toBe("mine");
    configure(`[agents.next]\ncommand = "${root}/agent"\n`);
    expect(runtimes.list()[0]?.name).toBe("next");
    expect(runtimes.list().map(({ name }) => name)).not.toContain("mine");
    // Agents of it may still be open.
    expect(runtimes.find("mine")?.name).toBe("mine");
    expect(() => specs.get("mine")?.()).toThrow("not in config.toml any more");
    expect(runtimes.find("nothing")).toBeNull();
  });

  it("see a program that was installed meanwhile, and say what is missing until then", async () => {
    configure(`[agents.late]\ncommand = "${root}/late"\n`);
    expect(row("late")).toMatchObject({
      state: "missing",
      next: expect.stringContaining("agents.late.command"),
    });
    expect(() => specs.get("late")?.()).toThrow(`${root}/late`);
    await writeFile(join(root, "late"), "#!/bin/sh\n", { mode: 0o755 });
    expect(specs.get("late")?.().command).toBe(join(root, "late"));
    nowMs += 60_000;
    expect(row("late")).toMatchObject({ state: "found" });
  });

  it("say how the last turn went", async () => {
    expect(row("mine")).toMatchObject({ state: "found", source: "config", kind: "acp", next: null });
    outcome = new SallyportError("not_supported", "It wants a login.");
    await expect(runtimes.find("mine")?.runTurn(turn)).rejects.toThrow("wants a login");
    expect(row("mine")).toMatchObject({ state: "failed", message: expect.stringContaining("wants a login") });
    outcome = { outcome: "done" };
    await runtimes.find("mine")?.runTurn(turn);
    expect(row("mine")).toMatchObject({ state: "ready" });
  });

  it.each([
    ["its model has said enough", { outcome: "failed", error: "It reached the limit of tokens." } as const],
    ["the disk is full", new SallyportError("disk_full", "The disk is full.")],
  ])("do not call an agent broken because %s", async (_why, end) => {
    outcome = end;
    await runtimes
      .find("mine")
      ?.runTurn(turn)
      .catch(() => undefined);
    expect(row("mine")?.state).not.toBe("failed");
  });

  it("explain names of agents that are not installed, and nothing of other names", () => {
    expect(runtimes.explain("vibe")).toContain("Mistral Vibe is not installed here");
    expect(runtimes.explain("magic")).toBeNull();
  });

  it("are ended all, also those that can no longer be chosen", async () => {
    runtimes.list();
    configure("");
    runtimes.list();
    await runtimes.close();
    expect(closed).toContain("mine");
  });
});

describe("keys", () => {
  it("go to the agent that they stand for, and to no other", async () => {
    configure(`[agents.mine]\ncommand = "${root}/agent"\n[agents.two]\ncommand = "${root}/agent"\n`);
    await keep(`[agents.mine]\nMY_API_KEY = "${key}"\n[agents.two]\nMY_API_KEY = "${other}"\n`);
    runtimes.list();
    expect(specs.get("mine")?.().env).toMatchObject({ MY_API_KEY: key });
    expect(specs.get("two")?.().env).toMatchObject({ MY_API_KEY: other });
    expect(inspect(specs.get("two")?.(), { depth: 9 })).not.toContain(key);
  });

  it("are read anew at each start, and stand over the settings of the configuration", async () => {
    configure(`[agents.mine]\ncommand = "${root}/agent"\nenv = { MY_API_KEY = "old", LEVEL = "3" }\n`);
    runtimes.list();
    expect(specs.get("mine")?.().env).toMatchObject({ MY_API_KEY: "old", LEVEL: "3" });
    await keep(`[agents.mine]\nMY_API_KEY = "${key}"\n`);
    expect(specs.get("mine")?.().env).toMatchObject({ MY_API_KEY: key, LEVEL: "3" });
    await keep(`[agents.mine]\nMY_API_KEY = "${other}"\n`);
    expect(specs.get("mine")?.().env).toMatchObject({ MY_API_KEY: other });
  });

  it("are named by where they come from, and never shown", async () => {
    await keep(`[agents.mine]\nMY_API_KEY = "${key}"\n`);
    specs.get("mine")?.();
    expect(row("mine")?.message).toContain("MY_API_KEY of credentials.toml");
    expect(JSON.stringify(runtimes.list().map((each) => each.about?.()))).not.toContain(key);
    configure(`[agents.qwen]\ncommand = "${root}/agent"\n`);
    expect(row("qwen")?.message).toContain("OPENAI_API_KEY of the environment");
    expect(row("qwen")?.message).not.toContain("of-the-environment");
  });

  it("are struck out of the log once they were read", async () => {
    await keep(`[agents.mine]\nMY_API_KEY = "${key}"\nX = "abc"\n[mcp_servers.m]\nTOKEN = "${other}"\n`);
    runtimes.list();
    specs.get("mine")?.();
    expect(protectedSecrets).toEqual([key, other]);
  });

  it.each([
    ["a damaged file", `[agents.mine]\nMY_API_KEY = ${key}\n`, 0o600, "line 2"],
    ["a file that others can read", `[agents.mine]\nMY_API_KEY = "${key}"\n`, 0o644, "chmod 600"],
  ])("refuse to start an agent with %s, by name of the file", async (_case, text, mode, says) => {
    await keep(text, mode);
    runtimes.list();
    const start = specs.get("mine");
    for (const act of [start, () => deps.mcpServers()]) {
      expect(act).toThrow(expect.objectContaining({ code: "not_supported" }));
      expect(act).toThrow(credentialsPath());
      expect(act).toThrow(says);
    }
    expect(row("mine")).toMatchObject({
      state: "failed",
      message: expect.stringContaining(credentialsPath()),
    });
  });

  it("of MCP servers are their environment, or their headers", async () => {
    configure(
      `[mcp_servers.one]\ncommand = "one"\nargs = ["-s"]\nenv = { A = "1" }\n[mcp_servers.two]\nurl = "https://two.example"\nheaders = { B = "2" }\n[agents.mine]\ncommand = "${root}/agent"\n`,
    );
    await keep(`[mcp_servers.one]\nTOKEN = "${key}"\n[mcp_servers.two]\nAuthorization = "Bearer ${key}"\n`);
    runtimes.list();
    expect(deps.mcpServers()).toEqual([
      { name: "one", kind: "stdio", command: "one", args: ["-s"], env: { A: "1", TOKEN: key } },
      {
        name: "two",
        kind: "http",
        url: "https://two.example",
        headers: { B: "2", Authorization: `Bearer ${key}` },
      },
    ]);
  });
});

import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Jobs } from "../../../../src/engine/jobs/jobs.ts";
import { judgeCall } from "../../../../src/engine/rules/judge-call.ts";
import type {
  AcpAgentSpec,
  AcpRuntime,
  McpServerSpec,
} from "../../../../src/engine/runtimes/acp/agent-spec.ts";
import { createAcpRuntime } from "../../../../src/engine/runtimes/acp/create-acp-runtime.ts";
import type { AgentEvent } from "../../../../src/protocol/events.ts";
import type { Decision, Mode } from "../../../../src/protocol/objects.ts";
import { actor, engineFixture, type Fixture, local } from "../../support/engine-fixture.ts";
import { realJobs } from "../../support/real-jobs.ts";
import { tellingJobs } from "../two-pieces.ts";

const fixture = fileURLToPath(new URL("../../../fixtures/agents/scripted.js", import.meta.url));

export interface ScriptedOptions {
  /** Arguments of the scripted agent: how it behaves before any prompt. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly spec?: Partial<AcpAgentSpec>;
  readonly mcpServers?: readonly McpServerSpec[];
  readonly rules?: { readonly allow: readonly string[]; readonly deny: readonly string[] };
}

export type Step = { readonly do: string } & Readonly<Record<string, unknown>>;

/** The folder, jobs and spec of a scripted agent; the runtime is made when the home is known. */
export interface ScriptedParts {
  readonly folder: string;
  readonly jobs: Jobs;
  runtime(homeFolder: string): AcpRuntime;
  logLines(): Promise<readonly string[]>;
  dispose(): Promise<void>;
}

export async function scriptedParts(options: ScriptedOptions = {}): Promise<ScriptedParts> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-acp-")));
  const logPath = join(folder, "agent.log");
  const jobs = tellingJobs(await realJobs(folder));
  const made: AcpRuntime[] = [];
  const spec: AcpAgentSpec = {
    name: "scripted",
    title: "Scripted",
    command: process.execPath,
    args: [
      fixture,
      `--log=${logPath}`,
      ...(options.args ?? [`--memory=${join(folder, "memory.json")}`]).map((each) =>
        each === "--memory" ? `--memory=${join(folder, "memory.json")}` : each,
      ),
    ],
    env: { SCRIPTED_API_KEY: "key-of-the-test-1234", ...options.env },
    loginHint: null,
    keyHint: null,
    secrets: [],
    authMethod: null,
    ...options.spec,
  };
  return {
    folder,
    jobs,
    runtime(homeFolder) {
      const runtime = createAcpRuntime("scripted", () => spec, {
        jobs,
        environment: { ...process.env, SALLYPORT_TOKEN: "spm_not_for_agents_0123456789abcdef" },
        homeFolder,
        mcpServers: () => options.mcpServers ?? [],
        now: Date.now,
        report: () => undefined,
      });
      made.push(runtime);
      return runtime;
    },
    async logLines() {
      const text = await readFile(logPath, "utf8").catch(() => "");
      return text.split("\n").filter((line) => line !== "");
    },
    async dispose() {
      for (const runtime of made) await runtime.close?.();
      await jobs.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** An engine whose one tab is to run the scripted agent, and an agent of it. */
export interface Scripted extends ScriptedParts {
  readonly at: Fixture;
  readonly agent: string;
  prompt(steps: readonly Step[] | string): Promise<string>;
  ended(turn: string): Promise<Extract<AgentEvent, { type: "turn_finished" }>>;
  /** Prompts and waits for the end. */
  run(steps: readonly Step[] | string): Promise<Extract<AgentEvent, { type: "turn_finished" }>>;
  decide(decision: Decision, turn?: string): Promise<Extract<AgentEvent, { type: "permission_requested" }>>;
  mode(mode: Mode): Promise<void>;
  /** All that the agent said in its messages. */
  said(): string;
  events<T extends AgentEvent["type"]>(type: T): Extract<AgentEvent, { type: T }>[];
}

export async function scripted(options: ScriptedOptions = {}): Promise<Scripted> {
  const parts = await scriptedParts(options);
  const at = await engineFixture({
    jobs: parts.jobs,
    judgeCall,
    now: Date.now,
    rules: () => options.rules ?? { allow: [], deny: [] },
    runtimesFor: (home) => [parts.runtime(home)],
  });
  const { id: agent } = await at.engine.startAgent({ type: "agent_start", runtime: "scripted" }, local);
  const answered = new Set<string>();

  async function prompt(steps: readonly Step[] | string): Promise<string> {
    const text = typeof steps === "string" ? steps : JSON.stringify(steps);
    return (await at.engine.prompt({ type: "prompt", agent, text }, local)).turn;
  }
  const ended = (turn: string) => at.event("turn_finished", (event) => event.turn === turn);
  const events = <T extends AgentEvent["type"]>(type: T) =>
    at.events().filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);

  return {
    ...parts,
    at,
    agent,
    prompt,
    ended,
    run: async (steps) => ended(await prompt(steps)),
    async decide(decision, turn) {
      const asked = await at.event(
        "permission_requested",
        (event) => !answered.has(event.request_id) && (turn === undefined || event.turn === turn),
      );
      answered.add(asked.request_id);
      await at.engine.approve({ type: "approve", request_id: asked.request_id, decision }, actor("phone"));
      return asked;
    },
    async mode(mode) {
      const tab = at.engine.snapshot().workspace.tabs[0]?.id ?? "";
      await at.engine.setMode({ type: "mode", tab, mode }, local);
    },
    said: () =>
      events("assistant_message")
        .map(({ message }) => message.text)
        .join(""),
    events,
    async dispose() {
      await at.dispose();
      await parts.dispose();
    },
  };
}

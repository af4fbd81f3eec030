import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RuntimeSource } from "../../src/engine/runtimes/registry.ts";
import type { Runtime } from "../../src/engine/runtimes/runtime.ts";
import { actor, allowAll, engineFixture, type Fixture, local } from "./support/engine-fixture.ts";

/** Says what it was asked; a model of its own must be one of two. */
function agentOf(name: string): Runtime {
  return {
    name,
    needsTrust: true,
    takesModel: true,
    about: () => ({
      title: name.toUpperCase(),
      kind: "acp",
      source: "config",
      state: "found",
      message: "Is there.",
      next: null,
      version: null,
    }),
    models: () => [{ id: "big", runtime: name, name: "Big", context_tokens: null }],
    chooseModel: (model) => model ?? "big",
    checkPrompt: () => undefined,
    runTurn: async () => ({ outcome: "done" }),
  };
}

let at: Fixture;
let agents: Runtime[];
let fallback: string;
const source: RuntimeSource = {
  list: () => agents,
  find: (name) => agents.find((each) => each.name === name || name === "acp") ?? null,
  explain: (name) => (name === "gemini" ? "Gemini CLI is not installed here." : null),
  addAgent: () => (agents.length > 0 ? null : "Install one."),
};

beforeEach(async () => {
  agents = [agentOf("qwen"), agentOf("claude")];
  fallback = "shell";
  at = await engineFixture({
    judgeCall: allowAll,
    agentRuntimes: source,
    tabRuntime: () => fallback,
  });
});
afterEach(() => at.dispose());

const tabs = () => at.engine.snapshot().workspace.tabs;
const firstTab = () => tabs()[0]?.id ?? "";
async function openTab(name: string, fields: { runtime?: string } = {}, by = local) {
  const cwd = join(dirname(at.project), name);
  await mkdir(cwd, { recursive: true });
  return (await at.engine.places.openTab({ type: "tab_create", cwd, ...fields }, by)).tab;
}
const setRuntime = (
  fields: { tab: string; runtime: string; model?: string; project?: boolean },
  by = local,
) => at.engine.places.setTabRuntime({ type: "tab_runtime", ...fields }, by);

describe("tab_runtime", () => {
  it("chooses what new agents of a tab run, tells clients, and is kept over a restart", async () => {
    const tab = await setRuntime({ tab: firstTab(), runtime: "qwen", model: "small" });
    expect(tab).toMatchObject({ runtime: "qwen", model: "small" });
    expect(at.changes).toContainEqual(expect.objectContaining({ type: "tab_updated", tab }));
    const agent = await at.engine.startAgent({ type: "agent_start" }, local);
    expect(agent).toMatchObject({ runtime: "qwen", model: "small" });
    const other = await at.engine.startAgent({ type: "agent_start", runtime: "claude" }, local);
    expect(other).toMatchObject({ runtime: "claude", model: "big" });
    const prompted = await at.engine.prompt({ type: "prompt", text: "hello" }, local);
    await at.restart();
    expect(tabs()[0]).toMatchObject({ runtime: "qwen", model: "small" });
    expect(tabs()[0]?.agents.find(({ id }) => id === prompted.agent)).toMatchObject({
      runtime: "qwen",
      model: "small",
    });
  });

  it("with `project` chooses for new tabs on the folder too, and only for those", async () => {
    const tab = await openTab("api");
    await setRuntime({ tab: tab.id, runtime: "claude", model: "small", project: true });
    expect(await openTab("api")).toMatchObject({ runtime: "claude", model: "small" });
    expect(await openTab("api", { runtime: "qwen" })).toMatchObject({ runtime: "qwen", model: null });
    expect(await openTab("web")).toMatchObject({ runtime: "shell", model: null });
    await at.restart();
    expect(await openTab("api")).toMatchObject({ runtime: "claude", model: "small" });
    agents = [];
    expect(await openTab("api")).toMatchObject({ runtime: "shell", model: null });
  });

  it("is refused for what there is not, and changes nothing", async () => {
    const tab = firstTab();
    for (const [fields, error] of [
      [
        { tab, runtime: "magic" },
        { code: "invalid_field", field: "runtime" },
      ],
      [
        { tab, runtime: "gemini" },
        { code: "invalid_field", message: "Gemini CLI is not installed here." },
      ],
      [
        { tab, runtime: "shell", model: "big" },
        { code: "not_supported", field: "model" },
      ],
      [
        { tab: "nope", runtime: "qwen" },
        { code: "not_found", field: "tab" },
      ],
    ] as const)
      await expect(setRuntime({ ...fields, project: true })).rejects.toMatchObject(error);
    const phone = actor("phone");
    phone.revoke();
    await expect(setRuntime({ tab, runtime: "qwen" }, phone)).rejects.toMatchObject({ code: "unauthorized" });
    expect(tabs()[0]).toMatchObject({ runtime: "shell", model: null });
    expect(await openTab("project")).toMatchObject({ runtime: "shell" });
  });

  it("refuses a home whose choices are damaged, and names the file", async () => {
    await setRuntime({ tab: firstTab(), runtime: "qwen", project: true });
    const path = join(at.home, "state.json");
    const state = JSON.parse(await readFile(path, "utf8"));
    await writeFile(path, JSON.stringify({ ...state, project_defaults: [{ cwd: 1 }] }));
    await expect(at.restart()).rejects.toThrow(path);
  });
});

describe("what a new tab runs", () => {
  it("is what the configuration says, where the folder is trusted; else the shell", async () => {
    fallback = "qwen";
    expect(await openTab("api")).toMatchObject({ runtime: "qwen", trusted: true });
    const driver = actor("driver", ["view", "drive"]);
    expect(await openTab("web", {}, driver)).toMatchObject({ runtime: "shell", trusted: false });
    const asked = await openTab("ops", { runtime: "qwen" }, driver);
    expect(asked).toMatchObject({ runtime: "qwen", trusted: false });
    await expect(
      at.engine.prompt({ type: "prompt", tab: asked.id, text: "hello" }, driver),
    ).rejects.toMatchObject({ code: "path_refused" });
    fallback = "gemini";
    expect(await openTab("new")).toMatchObject({ runtime: "shell" });
  });

  it("does not trust a folder for a runtime that there is not", async () => {
    await expect(openTab("evil", { runtime: "magic" })).rejects.toMatchObject({ field: "runtime" });
    const driver = actor("driver", ["view", "drive"]);
    expect(await openTab("evil", {}, driver)).toMatchObject({ trusted: false });
  });

  it("takes acp for the first agent, and goes by its proper name", async () => {
    expect(await openTab("api", { runtime: "acp" })).toMatchObject({ runtime: "qwen" });
    expect(await at.engine.startAgent({ type: "agent_start", runtime: "acp" }, local)).toMatchObject({
      runtime: "qwen",
    });
  });
});

describe("the list of runtimes", () => {
  it("shows at each look what there is then, and how to get an agent where there is none", () => {
    fallback = "qwen";
    expect(at.engine.library.models()).toMatchObject({
      models: [{ id: "big", runtime: "qwen" }, { runtime: "claude" }],
      default_model: "big",
      default_runtime: "qwen",
      add_agent: null,
      runtimes: [
        { name: "shell", kind: "shell", next: null },
        { name: "qwen", title: "QWEN", kind: "acp", takes_model: true, needs_trust: true },
        { name: "claude" },
      ],
    });
    agents = [];
    expect(at.engine.library.models()).toMatchObject({
      models: [],
      default_model: null,
      default_runtime: "shell",
      add_agent: "Install one.",
      runtimes: [{ name: "shell", next: "Install one." }],
    });
  });

  it("tells whoever wrote a sentence to the shell how to get an agent", async () => {
    at.jobs.answer = () => ({ exitCode: 127, output: "/bin/sh: 1: fix: not found\n" });
    agents = [];
    await at.engine.prompt({ type: "prompt", text: "fix the tests" }, local);
    expect(await at.event("notice")).toMatchObject({ message: "Install one." });
    expect((await at.event("turn_finished")).outcome).toBe("done");
  });
});

import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SessionPage } from "../../../src/engine/engine.ts";
import { judgeCall } from "../../../src/engine/rules/judge-call.ts";
import { createReplayRuntime } from "../../../src/engine/runtimes/replay.ts";
import type { AgentEvent } from "../../../src/protocol/events.ts";
import { actor, engineFixture, type Fixture, local } from "../support/engine-fixture.ts";
import { unbalanced, viewOf } from "./conversation-view.ts";

const example = (name: string): string =>
  fileURLToPath(new URL(`../../../examples/replay/${name}.jsonl`, import.meta.url));

let at: Fixture;
let folder: string;
let scripts: Record<string, string>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-replay-"));
  scripts = { features: example("features"), failure: example("failure"), own: join(folder, "own.jsonl") };
  const replay = createReplayRuntime({ scripts: () => scripts, now: Date.now });
  at = await engineFixture({ runtimes: [replay], judgeCall, now: Date.now });
});
afterEach(async () => {
  await at.dispose();
  await rm(folder, { recursive: true, force: true });
});

async function start(model?: string): Promise<string> {
  const command = { type: "agent_start" as const, runtime: "replay" };
  return (await at.engine.startAgent({ ...command, ...(model === undefined ? {} : { model }) }, local)).id;
}
const prompt = async (agent: string, text = "go"): Promise<string> =>
  (await at.engine.prompt({ type: "prompt", agent, text }, local)).turn;
const ended = (turn: string) => at.event("turn_finished", (event) => event.turn === turn);
const eventsOf = (agent: string): AgentEvent[] => at.events().filter((event) => event.agent === agent);
const agents = () => at.engine.snapshot().workspace.tabs[0]?.agents ?? [];

async function play(lines: readonly object[], text = "go"): Promise<AgentEvent[]> {
  await writeFile(scripts.own ?? "", lines.map((line) => JSON.stringify(line)).join("\n"));
  const agent = await start("own");
  await ended(await prompt(agent, text));
  return eventsOf(agent);
}
const said = (events: readonly AgentEvent[]): string[] =>
  events.flatMap((event) => (event.type === "assistant_message" ? [event.message.text] : []));

/** Answers whatever asks, in the order in which it asks, until the turn has ended. */
function answerAll(answers: readonly string[][]): () => void {
  const left = [...answers];
  return at.log.subscribe(({ change }) => {
    if (change.type !== "event") return;
    const { event } = change;
    if (event.type === "permission_requested")
      void at.engine.approve({ type: "approve", request_id: event.request_id, decision: "allow" }, local);
    if (event.type === "question_asked")
      void at.engine.answer(
        { type: "answer", request_id: event.request_id, answers: left.shift() ?? [] },
        local,
      );
  });
}

describe("the script with one of everything", () => {
  const answers = [["sqlite", "users\njobs", "no"], ["kind"]];

  it("plays todos, questions, diffs, a subagent, usage and a title, and branches by the answers", async () => {
    const agent = await start("features");
    const stop = answerAll(answers);
    await ended(await prompt(agent));
    stop();
    const events = eventsOf(agent);
    expect(said(events)).toEqual([
      "I **speak** in pieces.",
      "One file is enough, I agree.",
      "Done. (kind it was.)",
    ]);
    expect(events.find((event) => event.type === "assistant_message")).toMatchObject({
      message: { thinking: "First I think, then I speak." },
    });
    expect(events.find((event) => event.type === "question_asked")).toMatchObject({
      agent,
      subagent: null,
      questions: [
        {
          prompt: "Which store?",
          multiple: false,
          options: [{ label: "sqlite", description: "one file" }, { label: "postgres" }],
        },
        { prompt: "Which tables?", multiple: true },
        { prompt: "Anything else?", options: [], multiple: false },
      ],
    });
    expect(events.find((event) => event.type === "tool_finished" && event.tool === "edit")).toMatchObject({
      is_error: false,
      diff: { path: "src/store.ts", patch: expect.stringContaining("+export const store") },
    });
    expect(events.find((event) => event.type === "usage")).toMatchObject({
      input_tokens: 5200,
      cache_write_tokens: 600,
      cost: 0.043,
      context_tokens: 6640,
    });
    expect(events.filter((event) => event.type === "todos")).toHaveLength(2);
    expect(agents().find((row) => row.id === agent)).toMatchObject({ title: "One of everything" });
    expect(viewOf(events).torn).toEqual([]);
  });

  it("gives a subagent a row, a transcript, a turn and requests of its own", async () => {
    const agent = await start("features");
    const stop = answerAll(answers);
    const asked = at.event("permission_requested", (event) => event.agent !== agent);
    const turn = await prompt(agent);
    const { agent: child, turn: childTurn } = await asked;
    expect(agents().find((row) => row.id === child)).toMatchObject({
      parent: agent,
      label: "reviewer",
      runtime: "replay",
      state: "waiting",
      turn: childTurn,
      live: true,
    });
    expect(at.engine.snapshot().workspace.tabs[0]?.active_agent).toBe(agent);
    await ended(turn);
    stop();
    const records = await at.transcript(child ?? "");
    const call = eventsOf(agent).find((event) => event.type === "tool_started" && event.tool === "agent");
    expect(records.map((record) => record.type)).toEqual([
      "agent_started",
      "turn_started",
      "user_message",
      "assistant_message",
      "tool_started",
      "permission_requested",
      "permission_resolved",
      "tool_finished",
      "question_asked",
      "question_resolved",
      "assistant_message",
      "usage",
      "turn_finished",
      "agent_finished",
    ]);
    expect(records[0]).toMatchObject({
      parent: agent,
      label: "reviewer",
      call_id: call?.type === "tool_started" ? call.call_id : "none",
    });
    expect(records.find((record) => record.type === "question_asked")).toMatchObject({
      agent: child,
      subagent: "reviewer",
      turn: childTurn,
    });
    expect(records.at(-1)).toMatchObject({ outcome: "done" });
    expect(unbalanced(records)).toEqual([]);
    await expect(
      at.engine.prompt({ type: "prompt", agent: child ?? "", text: "more" }, local),
    ).rejects.toMatchObject({ code: "not_supported", field: "agent" });
  });

  it("shows whoever joins at any event all of every agent's conversation", async () => {
    const pages: { agent: string; page: Promise<SessionPage> }[] = [];
    const agent = await start("features");
    at.log.subscribe(({ change }) => {
      if (change.type !== "event") return;
      const known = new Set([agent, ...at.events().map((event) => event.agent)]);
      for (const id of known)
        if (id !== null) pages.push({ agent: id, page: at.engine.readSession(id, { limit: 1_000 }) });
    });
    const stop = answerAll(answers);
    await ended(await prompt(agent));
    stop();
    expect(pages.length).toBeGreaterThan(50);
    for (const { agent: id, page } of pages) {
      const joined = viewOf(eventsOf(id), await page);
      expect(joined).toEqual(viewOf(eventsOf(id)));
    }
  });

  it("fails where the prompt says so, and says why", async () => {
    const agent = await start("features");
    const stop = answerAll(answers);
    expect(await ended(await prompt(agent, "please FAIL"))).toMatchObject({
      outcome: "failed",
      error: "The quota of this month is used up.",
    });
    stop();
    expect(eventsOf(agent).find((event) => event.type === "error")).toMatchObject({ code: "quota" });
  });
});

describe("a subagent", () => {
  const delegate = [
    { type: "agent_started", agent: "a", text: "do it" },
    { type: "text_delta", agent: "a", text: "half" },
    { type: "hold", agent: "a" },
    { type: "text_delta", text: "I go on alone." },
  ];

  it("that is cancelled ends alone: its parent goes on, and what it said stays", async () => {
    await writeFile(scripts.own ?? "", delegate.map((line) => JSON.stringify(line)).join("\n"));
    const agent = await start("own");
    const turn = await prompt(agent);
    const { agent: child } = await at.event("text_delta");
    await at.engine.cancel(child ?? "", local);
    expect(await at.event("agent_finished")).toMatchObject({ agent: child, outcome: "cancelled" });
    expect(await ended(turn)).toMatchObject({ outcome: "done" });
    expect(said(eventsOf(agent))).toEqual(["I go on alone."]);
    const records = await at.transcript(child ?? "");
    expect(said(records)).toEqual(["half"]);
    expect(unbalanced(records)).toEqual([]);
  });

  it("ends with its parent, before it, and is closed with it", async () => {
    await writeFile(scripts.own ?? "", delegate.map((line) => JSON.stringify(line)).join("\n"));
    const agent = await start("own");
    const turn = await prompt(agent);
    const { agent: child } = await at.event("text_delta");
    await at.engine.cancel(agent, local);
    const finished = await at.event("agent_finished");
    expect(finished).toMatchObject({ agent: child, outcome: "cancelled" });
    expect((await ended(turn)).seq).toBeGreaterThan(finished.seq);
    await at.engine.closeAgent(agent, local);
    expect(agents()).toEqual([]);
    const closed = at.changes.flatMap((change) =>
      change.type === "agent_updated" && change.agent.state === "closed" ? [change.agent.id] : [],
    );
    expect(closed).toEqual([child, agent]);
  });

  it("remembers what was allowed for the session together with its parent and siblings", async () => {
    const call = (agent: string, name: string) => [
      { type: "agent_started", agent, text: "run it" },
      { type: "tool_started", agent, call: name, tool: "bash", input: { command: "wc a" } },
      { type: "tool_finished", agent, call: name, output: "" },
    ];
    await writeFile(
      scripts.own ?? "",
      [...call("a", "1"), ...call("b", "2")].map((line) => JSON.stringify(line)).join("\n"),
    );
    const turn = await prompt(await start("own"));
    const asked = await at.event("permission_requested");
    expect(asked.allow_session).toBe("bash(wc *)");
    await at.engine.approve(
      { type: "approve", request_id: asked.request_id, decision: "allow_session" },
      actor("phone"),
    );
    expect(await ended(turn)).toMatchObject({ outcome: "done" });
    expect(at.events().filter((event) => event.type === "permission_requested")).toHaveLength(1);
    expect(at.events().filter((event) => event.type === "tool_finished")).toMatchObject([
      { is_error: false },
      { is_error: false },
    ]);
  });

  it("leaves the tab when newer ones have ended; its transcript stays", async () => {
    const lines = Array.from({ length: 40 }, (_, n) => [
      { type: "agent_started", agent: `a${n}`, text: "x" },
      { type: "agent_finished", agent: `a${n}` },
    ]).flat();
    const agent = await start("own");
    await writeFile(scripts.own ?? "", lines.map((line) => JSON.stringify(line)).join("\n"));
    await ended(await prompt(agent));
    const children = agents().filter((row) => row.parent === agent);
    expect(children).toHaveLength(32);
    expect(children.at(-1)?.label).toBe("a39");
    const first = at.events().find((event) => event.type === "agent_started" && event.label === "a0");
    expect((await at.engine.readSession(first?.agent ?? "", {})).records.length).toBeGreaterThan(3);
  });

  it("is left behind by a crash as failed, and no longer live", async () => {
    await writeFile(scripts.own ?? "", delegate.map((line) => JSON.stringify(line)).join("\n"));
    await prompt(await start("own"));
    const { agent: child } = await at.event("text_delta");
    await at.restart();
    expect(agents().find((row) => row.id === child)).toMatchObject({ state: "idle", live: false });
    const { records } = await at.engine.readSession(child ?? "", {});
    expect(records.at(-1)).toMatchObject({ type: "turn_finished", outcome: "failed" });
  });
});

describe("the model of an agent", () => {
  it("is the first script when nobody says, and changes from the next prompt on, over restarts", async () => {
    const agent = await start();
    expect(agents()[0]).toMatchObject({ id: agent, model: "features" });
    await at.engine.setModel({ type: "model", agent, model: "failure" }, local);
    expect(eventsOf(agent).at(-1)).toMatchObject({ type: "model_changed", model: "failure" });
    expect(agents()[0]).toMatchObject({ model: "failure" });
    const { rev } = at.engine.snapshot();
    await at.engine.setModel({ type: "model", agent, model: "failure" }, local);
    expect(at.engine.snapshot().rev).toBe(rev);
    await at.restart();
    expect(agents()[0]).toMatchObject({ model: "failure" });
    expect(await ended(await prompt(agent))).toMatchObject({
      outcome: "failed",
      error: "The model is overloaded. Try again in a minute.",
    });
    const end = eventsOf(agent).find((event) => event.type === "tool_finished");
    expect(end).toMatchObject({ is_error: true, output: expect.stringMatching(/^cc -c door.c\n/) });
  });

  it("must exist, and a shell has none", async () => {
    const agent = await start();
    const { id: shell } = await at.engine.startAgent({ type: "agent_start" }, local);
    const { rev } = at.engine.snapshot();
    for (const [id, model, code, field] of [
      [agent, "nope", "invalid_field", "model"],
      [shell, "features", "not_supported", "model"],
      ["01a17453-0000-7000-8000-000000000000", "features", "not_found", "agent"],
    ] as const)
      await expect(at.engine.setModel({ type: "model", agent: id, model }, local)).rejects.toMatchObject({
        code,
        field,
      });
    expect(at.engine.snapshot().rev).toBe(rev);
  });
});

describe("a script", () => {
  it("fills in what the prompt, the answers and the memory are", async () => {
    const events = await play(
      [{ type: "assistant_message", text: "{prompt} {prompts} [{summary}] {answer:x}" }],
      "hi",
    );
    expect(said(events)).toEqual(["hi 1 [] {answer:x}"]);
  });

  it("is stopped by a denial in its own branch only", async () => {
    await at.restart({ rules: () => ({ allow: [], deny: ["bash(rm *)"] }) });
    const events = await play([
      { type: "tool_started", call: "c", tool: "bash", input: { command: "rm -rf /" } },
      { type: "tool_output", call: "c", text: "gone" },
      { type: "tool_finished", call: "c", output: "gone" },
      { type: "assistant_message", text: "no", when: { step: "c", is: "denied" } },
      { type: "assistant_message", text: "yes", when: { step: "c", is: "allowed" } },
    ]);
    expect(said(events)).toEqual(["no"]);
    expect(events.map((event) => event.type)).not.toContain("tool_output");
    expect(events.find((event) => event.type === "tool_finished")).toMatchObject({
      output: "Denied by the rule bash(rm *).",
    });
  });

  it("asks for an edit by the path in the tab's folder, and the mode decides", async () => {
    await at.engine.setMode(
      { type: "mode", tab: at.engine.snapshot().workspace.tabs[0]?.id ?? "", mode: "edits" },
      local,
    );
    const events = await play([
      { type: "tool_started", call: "c", tool: "edit", input: { path: "src/a.ts" } },
      { type: "tool_finished", call: "c", output: "ok" },
    ]);
    expect(events.find((event) => event.type === "tool_started")).toMatchObject({
      summary: join(at.project, "src/a.ts"),
    });
    expect(events.map((event) => event.type)).not.toContain("permission_requested");
  });

  it.each([
    [
      "is missing",
      null,
      "its file cannot be opened (ENOENT). Where it lies stands in config.toml, under [replay.own]",
    ],
    ["is damaged", '{"type":"wait"}\nnot json', "line 2: it is not JSON"],
  ])("that %s fails the turn with a sentence, before anything is played", async (_title, text, reason) => {
    if (text !== null) await writeFile(scripts.own ?? "", text);
    const agent = await start("own");
    expect(await ended(await prompt(agent))).toMatchObject({
      outcome: "failed",
      error: `The script own cannot be played: ${reason}.`,
    });
    expect(eventsOf(agent)).toHaveLength(4);
    expect(at.problems).toEqual([]);
  });

  it("that is too large, or no file, is not read", async () => {
    const path = scripts.own ?? "";
    await writeFile(path, "");
    await truncate(path, 1024 * 1024 + 1);
    const agent = await start("own");
    expect((await ended(await prompt(agent))).error).toContain("more than 1048576 bytes");
    scripts.own = folder;
    expect((await ended(await prompt(agent))).error).toContain("not a regular file");
  });

  it("runs in trusted folders only", async () => {
    const guest = actor("guest", ["view", "drive"]);
    const cwd = join(at.project, "..");
    const tab = await at.engine.createTab({ type: "tab_create", cwd, runtime: "replay" }, guest);
    expect(tab).toMatchObject({ runtime: "replay", trusted: false });
    await expect(at.engine.prompt({ type: "prompt", tab: tab.id, text: "go" }, guest)).rejects.toMatchObject({
      code: "path_refused",
    });
  });

  it("can be what runs in a tab: its agents replay, and an unknown runtime is refused", async () => {
    const cwd = join(at.project, "..");
    const tab = await at.engine.createTab({ type: "tab_create", cwd, runtime: "replay" }, local);
    scripts = { failure: example("failure") };
    const { turn, agent } = await at.engine.prompt({ type: "prompt", tab: tab.id, text: "go" }, local);
    expect(await ended(turn)).toMatchObject({ outcome: "failed" });
    expect(await at.event("agent_started")).toMatchObject({ agent, runtime: "replay", model: "failure" });
    await expect(
      at.engine.createTab({ type: "tab_create", cwd, runtime: "magic" }, local),
    ).rejects.toMatchObject({ code: "invalid_field", field: "runtime" });
  });

  it("is needed: without one the runtime says how to name one", async () => {
    scripts = {};
    await expect(start()).rejects.toMatchObject({ code: "not_supported", field: "runtime" });
  });
});

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { actor, allowAll, engineFixture, type Fixture, local } from "./support/engine-fixture.ts";

let at: Fixture;
beforeEach(async () => {
  at = await engineFixture();
});
afterEach(async () => {
  await at.dispose();
});

const types = (): string[] => at.events().map((event) => event.type);

describe("a prompt to the shell", () => {
  it("runs after an approval, in the sequence of the wire protocol, and the transcript holds the same without deltas", async () => {
    const receipt = await at.engine.prompt({ type: "prompt", text: "cargo test", request_id: "k1" }, local);
    const asked = await at.event("permission_requested");
    expect(at.jobs.calls).toHaveLength(0);
    expect(at.engine.snapshot().pending).toMatchObject([
      { request_id: asked.request_id, tool: "bash", summary: "cargo test", input: { command: "cargo test" } },
    ]);
    expect(at.engine.snapshot().workspace.tabs[0]?.agents[0]).toMatchObject({
      id: receipt.agent,
      label: "cargo test",
      state: "waiting",
      live: true,
      turn: receipt.turn,
    });
    await at.engine.approve(
      { type: "approve", request_id: asked.request_id, decision: "allow", digest: asked.digest },
      actor("phone"),
    );
    const call = await at.jobs.nextCall();
    expect(call.spec).toMatchObject({ command: "cargo test", cwd: at.project });
    call.spec.onOutput("Compiling…\n");
    call.end({ output: "Compiling…\n", exitCode: 101 });
    const finished = await at.event("turn_finished");
    expect(finished).toMatchObject({ turn: receipt.turn, outcome: "done" });
    expect(types()).toEqual([
      "agent_started",
      "turn_started",
      "user_message",
      "tool_started",
      "permission_requested",
      "permission_resolved",
      "tool_output",
      "tool_finished",
      "turn_finished",
    ]);
    expect(at.events().find((event) => event.type === "permission_resolved")).toMatchObject({
      allowed: true,
      decision: "allow",
      by: { device: "device-phone", name: "phone" },
    });
    expect(at.events().find((event) => event.type === "tool_finished")).toMatchObject({
      exit_code: 101,
      is_error: true,
      output: "Compiling…\n",
    });
    const seqs = at.events().map((event) => event.seq);
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    expect(new Set(seqs).size).toBe(seqs.length);
    expect(await at.transcript(receipt.agent)).toEqual(
      at.events().filter((event) => event.type !== "tool_output"),
    );
  });

  it("is done when it was denied, and nothing ran", async () => {
    await at.engine.prompt({ type: "prompt", text: "rm -rf x" }, local);
    const asked = await at.event("permission_requested");
    await at.engine.approve({ type: "approve", request_id: asked.request_id, decision: "deny" }, local);
    expect(await at.event("turn_finished")).toMatchObject({ outcome: "done" });
    expect(await at.event("tool_finished")).toMatchObject({ is_error: true, output: "Denied." });
    expect(at.jobs.calls).toHaveLength(0);
  });

  it("does not ask and does not run what a deny rule names", async () => {
    await at.restart({ judgeCall: () => ({ verdict: "deny", by: "bash(rm *)" }) });
    await at.engine.prompt({ type: "prompt", text: "rm -rf x" }, local);
    expect(await at.event("tool_finished")).toMatchObject({
      is_error: true,
      output: "Denied by the rule bash(rm *).",
    });
    expect(await at.event("turn_finished")).toMatchObject({ outcome: "done" });
    expect(types()).not.toContain("permission_requested");
  });

  it("becomes a job with a trailing ampersand that is an operator, and only then", async () => {
    await at.restart({ judgeCall: allowAll });
    await at.engine.prompt({ type: "prompt", text: "npm run dev &" }, local);
    const finished = await at.event("tool_finished");
    expect(at.jobs.started).toMatchObject([{ command: "npm run dev", cwd: at.project }]);
    expect(finished).toMatchObject({ is_error: false, job: at.jobs.list()[0]?.id });
    expect(at.changes.map((change) => change.type)).toContain("job_started");
    at.jobs.answer = () => ({});
    await at.engine.prompt({ type: "prompt", text: "echo 'a &'" }, local);
    await at.event("tool_finished", (event) => event.seq > finished.seq);
    expect(at.jobs.started).toHaveLength(1);
    expect(at.jobs.calls[0]?.spec.command).toBe("echo 'a &'");
  });

  it.each([
    ["an image", { images: [{ name: "a.png", mime: "image/png", data: "AA==" }] }, "not_supported", 422],
    ["an attachment", { attachments: [{ path: "README.md" }] }, "not_supported", 422],
    ["nothing but blanks", { text: " \n" }, "invalid_field", 422],
    ["a NUL", { text: "a\0b" }, "invalid_field", 422],
    ["half a surrogate pair", { text: "echo \ud800" }, "invalid_field", 422],
    ["more than the system takes as one argument", { text: "x".repeat(131_072) }, "too_large", 413],
    ["an unknown agent", { agent: "../../etc/passwd" }, "not_found", 404],
    ["an unknown tab", { tab: "01a17453-0000-7000-8000-000000000000" }, "not_found", 404],
  ])("refuses %s, and nothing happens", async (_title, fields, code, status) => {
    const before = at.engine.snapshot();
    await expect(
      at.engine.prompt({ type: "prompt", text: "echo hi", ...fields }, local),
    ).rejects.toMatchObject({ code, status });
    expect(at.engine.snapshot()).toEqual(before);
    expect(at.changes).toEqual([]);
  });

  it("shows a command that hides something whole, with everything invisible made visible", async () => {
    const text = "echo \u202eevil\u2066 \u00a0x\nrm\t-rf ⟨U+000A⟩";
    await at.restart();
    await at.engine.prompt({ type: "prompt", text }, local);
    const asked = await at.event("permission_requested");
    expect(asked.summary).toBe("echo ⟨U+202E⟩evil⟨U+2066⟩ ⟨U+00A0⟩x⟨U+000A⟩rm⟨U+0009⟩-rf ⟨U+27E8⟩U+000A⟩");
    expect(asked.input).toEqual({
      command: "echo ⟨U+202E⟩evil⟨U+2066⟩ ⟨U+00A0⟩x\nrm\t-rf ⟨U+27E8⟩U+000A⟩",
    });
    await at.engine.approve({ type: "approve", request_id: asked.request_id, decision: "allow" }, local);
    expect((await at.jobs.nextCall()).spec.command).toBe(text);
  });

  it("fails, with a sentence, when the folder of the tab is gone", async () => {
    const { rm } = await import("node:fs/promises");
    await rm(at.project, { recursive: true });
    await at.engine.prompt({ type: "prompt", text: "ls" }, local);
    const finished = await at.event("turn_finished");
    expect(finished.outcome).toBe("failed");
    expect(finished.error).toContain("does not exist");
    expect(at.jobs.calls).toHaveLength(0);
  });
});

describe("an agent that a crash left in the middle of a turn", () => {
  it.each([
    ["closing it", (agent: string) => at.engine.closeAgent(agent, local)],
    ["closing its tab", () => at.engine.closeTab(at.engine.snapshot().workspace.tabs[0]?.id ?? "", local)],
  ])("is brought to an end by %s, though nobody touched it since", async (_how, close) => {
    await at.restart({ judgeCall: allowAll });
    const first = await at.engine.prompt({ type: "prompt", text: "sleep 1" }, local);
    const { agent } = first;
    await at.jobs.nextCall();
    const second = await at.engine.prompt({ type: "prompt", agent, text: "two", queue: true }, local);
    await at.restart({ judgeCall: allowAll });
    await close(agent);
    const finished = (await at.transcript(agent)).filter((record) => record.type === "turn_finished");
    expect(finished).toMatchObject([
      { turn: first.turn, outcome: "failed" },
      { turn: second.turn, outcome: "failed" },
    ]);
    expect(await readdir(join(at.home, "sessions"))).toEqual([`${agent}.jsonl`]);
  });
});

describe("turns of one agent", () => {
  it("run one at a time: a second prompt is a conflict, or reserved as the next, and a third is a conflict", async () => {
    await at.restart({ judgeCall: allowAll });
    const first = await at.engine.prompt({ type: "prompt", text: "sleep 1" }, local);
    const { agent } = first;
    const call = await at.jobs.nextCall();
    const busy = { code: "conflict", reason: "busy" };
    await expect(at.engine.prompt({ type: "prompt", agent, text: "two" }, local)).rejects.toMatchObject(busy);
    const second = await at.engine.prompt({ type: "prompt", agent, text: "two", queue: true }, local);
    await expect(
      at.engine.prompt({ type: "prompt", agent, text: "three", queue: true }, local),
    ).rejects.toMatchObject({ ...busy, message: "The next turn is already reserved." });
    expect(at.engine.snapshot().workspace.tabs[0]?.agents[0]).toMatchObject({
      queued: true,
      turn: first.turn,
    });
    call.end();
    const next = await at.jobs.nextCall();
    expect(next.spec.command).toBe("two");
    next.end();
    await at.event("turn_finished", (event) => event.turn === second.turn);
    expect(types().filter((type) => type.startsWith("turn_"))).toEqual([
      "turn_started",
      "turn_finished",
      "turn_started",
      "turn_finished",
    ]);
    await at.change(
      (change) => change.type === "agent_updated" && change.agent.state === "idle" && change.agent.live,
    );
    expect(at.engine.snapshot().workspace.tabs[0]?.agents[0]).toMatchObject({ state: "idle", queued: false });
  });

  it("are taken by exactly one of fifty prompts in the same moment", async () => {
    await at.restart({ judgeCall: allowAll });
    const started = await at.engine.startAgent({ type: "agent_start" }, local);
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        at.engine.prompt({ type: "prompt", agent: started.id, text: `echo ${n}`, queue: n % 2 === 0 }, local),
      ),
    );
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(2);
    (await at.jobs.nextCall()).end();
    (await at.jobs.nextCall()).end();
    await at.change((change) => change.type === "agent_updated" && change.agent.state === "idle");
    expect(types().filter((type) => type === "turn_started")).toHaveLength(2);
  });

  it("name an agent that nobody has named, once", async () => {
    await at.restart({ judgeCall: allowAll });
    at.jobs.answer = () => ({});
    const tab = at.engine.snapshot().workspace.tabs[0]?.id ?? "";
    const { id: agent } = await at.engine.startAgent({ type: "agent_start", tab }, local);
    const row = () => at.engine.snapshot().workspace.tabs[0]?.agents.find((each) => each.id === agent);
    expect(row()?.label).toBeNull();
    for (const text of ["git status\n\u202e", "git log"]) {
      await at.engine.prompt({ type: "prompt", agent, text }, local);
      await expect.poll(() => row()?.state).toBe("idle");
    }
    expect(row()?.label).toBe("git status");
  });

  it("start in a new agent of the active tab when no target is named", async () => {
    await at.restart({ judgeCall: allowAll });
    at.jobs.answer = () => ({});
    const one = await at.engine.prompt({ type: "prompt", text: "one" }, local);
    const two = await at.engine.prompt({ type: "prompt", tab: one.tab, text: "two" }, local);
    expect(two.tab).toBe(one.tab);
    expect(two.agent).not.toBe(one.agent);
    expect(at.engine.snapshot().workspace.tabs[0]?.active_agent).toBe(two.agent);
  });
});

describe("cancel", () => {
  it("ends a turn that waits for an answer: the request is over, by nobody, and cannot be answered any more", async () => {
    const { agent } = await at.engine.prompt({ type: "prompt", text: "make" }, local);
    const asked = await at.event("permission_requested");
    await at.engine.cancel(agent, local);
    expect(types().slice(-3)).toEqual(["permission_resolved", "tool_finished", "turn_finished"]);
    expect(await at.event("permission_resolved")).toMatchObject({ allowed: false, decision: null, by: null });
    expect(await at.event("turn_finished")).toMatchObject({ outcome: "cancelled" });
    expect(at.engine.snapshot().pending).toEqual([]);
    await expect(
      at.engine.approve({ type: "approve", request_id: asked.request_id, decision: "allow" }, local),
    ).rejects.toMatchObject({ code: "conflict", reason: "turn_over" });
    expect(at.jobs.calls).toHaveLength(0);
  });

  it("ends the running call through its signal", async () => {
    await at.restart({ judgeCall: allowAll });
    const { agent } = await at.engine.prompt({ type: "prompt", text: "sleep 100" }, local);
    const call = await at.jobs.nextCall();
    await at.engine.cancel(agent, local);
    expect(call.spec.signal.aborted).toBe(true);
    expect(await at.event("tool_finished")).toMatchObject({ exit_code: 143, is_error: true });
    expect(await at.event("turn_finished")).toMatchObject({ outcome: "cancelled" });
  });

  it("ends the current turn only: the reserved one begins", async () => {
    await at.restart({ judgeCall: allowAll });
    const { agent } = await at.engine.prompt({ type: "prompt", text: "sleep 100" }, local);
    await at.jobs.nextCall();
    await at.engine.prompt({ type: "prompt", agent, text: "echo next", queue: true }, local);
    await at.engine.cancel(agent, local);
    expect((await at.jobs.nextCall()).spec.command).toBe("echo next");
    await at.engine.cancel(agent, local);
    expect(at.events().filter((event) => event.type === "turn_finished")).toMatchObject([
      { outcome: "cancelled" },
      { outcome: "cancelled" },
    ]);
  });

  it("in the moment of acceptance ends the turn before anything ran", async () => {
    const { id } = await at.engine.startAgent({ type: "agent_start" }, local);
    const accepted = at.engine.prompt({ type: "prompt", agent: id, text: "make" }, local);
    await at.engine.cancel(id, local);
    const { turn } = await accepted;
    expect(await at.event("turn_finished")).toMatchObject({ turn, outcome: "cancelled" });
    expect(types()).not.toContain("tool_started");
  });

  it("does nothing to an idle agent and knows no other", async () => {
    const { id } = await at.engine.startAgent({ type: "agent_start" }, local);
    const { rev } = at.engine.snapshot();
    await at.engine.cancel(id, local);
    expect(at.engine.snapshot().rev).toBe(rev);
    await expect(at.engine.cancel("nobody", local)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("closing", () => {
  it("an agent ends its turn and the reserved one, and takes it off the tab; the transcript stays", async () => {
    await at.restart({ judgeCall: allowAll });
    const first = await at.engine.prompt({ type: "prompt", text: "sleep 100" }, local);
    const { agent } = first;
    await at.jobs.nextCall();
    const second = await at.engine.prompt({ type: "prompt", agent, text: "echo 2", queue: true }, local);
    await at.engine.closeAgent(agent, local);
    expect(at.engine.snapshot().workspace.tabs[0]).toMatchObject({ agents: [], active_agent: null });
    expect(at.changes.at(-2)).toMatchObject({
      type: "agent_updated",
      agent: { id: agent, state: "closed", live: false, turn: null },
    });
    const page = await at.engine.readSession(agent, {});
    expect(page.records.filter((record) => record.type === "turn_finished")).toMatchObject([
      { turn: first.turn, outcome: "cancelled" },
      { turn: second.turn, outcome: "cancelled" },
    ]);
    expect(page.records).toContainEqual(expect.objectContaining({ type: "user_message", text: "echo 2" }));
    await expect(at.engine.prompt({ type: "prompt", agent, text: "x" }, local)).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(at.engine.closeAgent(agent, local)).rejects.toMatchObject({ code: "not_found" });
  });

  it("the daemon ends running turns as failed and says why", async () => {
    await at.restart({ judgeCall: allowAll });
    await at.engine.prompt({ type: "prompt", text: "sleep 100" }, local);
    const call = await at.jobs.nextCall();
    await at.engine.close();
    expect(call.spec.signal.aborted).toBe(true);
    expect(await at.event("turn_finished")).toMatchObject({
      outcome: "failed",
      error: "The daemon stopped before this turn ended.",
    });
    await expect(at.engine.prompt({ type: "prompt", text: "x" }, local)).rejects.toMatchObject({
      code: "overloaded",
    });
  });
});

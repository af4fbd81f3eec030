import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TurnContext } from "../../src/engine/runtimes/runtime.ts";
import { allowAll, engineFixture, type Fixture, local } from "./support/engine-fixture.ts";
import { failWrites, ofFile } from "./support/failing-disk.ts";

let at: Fixture;
let restore: (() => void) | null = null;
beforeEach(async () => {
  at = await engineFixture({ judgeCall: allowAll });
});
afterEach(async () => {
  restore?.();
  restore = null;
  await at.dispose();
});

const transcriptOf = (agent: string): string => join(at.home, "sessions", `${agent}.jsonl`);

describe("a disk that fills up in the middle of a turn", () => {
  it("fails the turn, frees the agent, and the end is written as soon as the disk takes it", async () => {
    const { agent, turn } = await at.engine.prompt({ type: "prompt", text: "make" }, local);
    const call = await at.jobs.nextCall();
    restore = failWrites({ code: "ENOSPC", partialBytes: 11, when: ofFile(transcriptOf(agent)) });
    call.end({ output: "ok" });
    expect(await at.event("turn_finished")).toMatchObject({
      turn,
      outcome: "failed",
      error: expect.stringContaining("ENOSPC"),
    });
    expect(at.events().find((event) => event.type === "tool_finished")).toMatchObject({
      is_error: true,
      output: "The turn failed before this call ended.",
    });
    expect(at.engine.snapshot().workspace.tabs[0]?.agents[0]).toMatchObject({ state: "idle", turn: null });
    await expect(at.engine.prompt({ type: "prompt", agent, text: "again" }, local)).rejects.toMatchObject({
      code: "disk_full",
    });
    restore();
    at.jobs.answer = () => ({});
    const second = await at.engine.prompt({ type: "prompt", agent, text: "again" }, local);
    await at.event("turn_finished", (event) => event.turn === second.turn);
    const records = await at.transcript(agent);
    expect(records.map((record) => record.type)).toEqual([
      "agent_started",
      "turn_started",
      "user_message",
      "tool_started",
      "tool_finished",
      "turn_finished",
      "turn_started",
      "user_message",
      "tool_started",
      "tool_finished",
      "turn_finished",
    ]);
  });

  it("does not run the command whose start cannot be written", async () => {
    const { id } = await at.engine.startAgent({ type: "agent_start" }, local);
    let writes = 0;
    restore = failWrites({
      code: "ENOSPC",
      when: (handle) => {
        if (!ofFile(transcriptOf(id))(handle)) return false;
        writes += 1;
        return writes > 1;
      },
    });
    await at.engine.prompt({ type: "prompt", agent: id, text: "make" }, local);
    expect(await at.event("turn_finished")).toMatchObject({ outcome: "failed" });
    expect(at.jobs.calls).toEqual([]);
  });

  it("fails the reserved turn, whose text is in the transcript at the next load", async () => {
    const { agent } = await at.engine.prompt({ type: "prompt", text: "make" }, local);
    const call = await at.jobs.nextCall();
    const { turn } = await at.engine.prompt({ type: "prompt", agent, text: "precious", queue: true }, local);
    restore = failWrites({ code: "ENOSPC", when: ofFile(transcriptOf(agent)) });
    call.end();
    expect(await at.event("turn_finished", (event) => event.turn === turn)).toMatchObject({
      outcome: "failed",
    });
    expect(at.jobs.calls).toHaveLength(1);
    await at.restart();
    restore();
    const { records } = await at.engine.readSession(agent, {});
    expect(records.filter((record) => record.type === "turn_finished")).toHaveLength(2);
    expect(records).toContainEqual(expect.objectContaining({ type: "user_message", text: "precious" }));
  });

  it("does not keep anybody from reading what there is", async () => {
    const { agent } = await at.engine.prompt({ type: "prompt", text: "make" }, local);
    await at.jobs.nextCall();
    await at.restart();
    restore = failWrites({ code: "ENOSPC" });
    const { records } = await at.engine.readSession(agent, {});
    expect(records.at(-1)?.type).toBe("tool_started");
    expect(at.problems.join()).toContain(agent);
  });
});

describe("a transcript that cannot be opened", () => {
  it("neither stops the start nor lets a prompt run twice whose intent it may hold", async () => {
    const { agent } = await at.engine.prompt({ type: "prompt", text: "make", request_id: "k1" }, local);
    await at.engine.close();
    const receipts = join(at.home, "receipts.jsonl");
    const [intent] = (await readFile(receipts, "utf8")).split("\n");
    await writeFile(receipts, `${intent}\n`);
    await rm(transcriptOf(agent));
    await mkdir(transcriptOf(agent));
    await at.restart({ judgeCall: allowAll });
    expect(at.engine.receipt("k1", local).status).toBe("accepted");
    expect(at.problems.join()).toContain("could not be looked up");
  });
});

describe("a runtime that goes wrong", () => {
  const runtime = (runTurn: (context: TurnContext) => Promise<never>) => ({
    name: "broken",
    needsTrust: false,
    takesModel: false,
    checkPrompt: () => undefined,
    runTurn,
  });

  it("fails its turn and tells clients nothing of the error, and its open requests end with it", async () => {
    await at.restart({
      judgeCall: () => ({ verdict: "ask", allowSession: null }),
      runtimes: [
        runtime(async (context) => {
          await context.record({ type: "title", title: "a\u202e title" });
          void context.permit({ callId: "c", tool: "bash", subject: "ls", input: {} });
          await at.event("permission_requested");
          throw new Error("secret detail");
        }),
      ],
    });
    const { id } = await at.engine.startAgent({ type: "agent_start", runtime: "broken" }, local);
    await at.engine.prompt({ type: "prompt", agent: id, text: "go" }, local);
    expect(await at.event("turn_finished")).toMatchObject({ outcome: "failed" });
    expect(JSON.stringify(at.changes)).not.toContain("secret detail");
    expect(at.problems.join()).toContain("secret detail");
    expect(at.engine.snapshot().pending).toEqual([]);
    expect(
      at
        .events()
        .map((event) => event.type)
        .slice(-2),
    ).toEqual(["permission_resolved", "turn_finished"]);
    expect(at.engine.snapshot().workspace.tabs[0]?.agents[0]).toMatchObject({
      title: "a title",
      state: "idle",
    });
  });

  it("cannot make a record that no reader would take", async () => {
    await at.restart({
      judgeCall: allowAll,
      runtimes: [
        runtime(async (context) => {
          await context.record({ type: "notice", message: "x".repeat(17 * 1024 * 1024) });
          throw new Error("not reached");
        }),
      ],
    });
    const { id } = await at.engine.startAgent({ type: "agent_start", runtime: "broken" }, local);
    await at.engine.prompt({ type: "prompt", agent: id, text: "go" }, local);
    expect(await at.event("turn_finished")).toMatchObject({ outcome: "failed" });
    expect((await at.transcript(id)).at(-1)).toMatchObject({ type: "turn_finished" });
  });
});

describe("open requests", () => {
  it("are bounded in size: a flood of large commands does not grow the daemon", async () => {
    await at.restart({ judgeCall: () => ({ verdict: "ask", allowSession: null }) });
    const text = `echo ${"\u0001".repeat(131_000)}`;
    for (let n = 0; n < 9; n += 1) await at.engine.prompt({ type: "prompt", text }, local);
    await at.event("tool_finished");
    const size = JSON.stringify(at.engine.snapshot().pending).length;
    expect(size).toBeLessThan(17 * 1024 * 1024);
    expect(at.events().find((event) => event.type === "tool_finished")).toMatchObject({
      is_error: true,
      output: expect.stringContaining("Too many requests"),
    });
    expect(at.jobs.calls).toEqual([]);
  });
});

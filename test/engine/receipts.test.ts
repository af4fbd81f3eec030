import { appendFile, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createReceiptTable } from "../../src/engine/receipts/receipt-table.ts";
import { actor, allowAll, askAlways, engineFixture, type Fixture, local } from "./support/engine-fixture.ts";
import { failWrites, ofFile } from "./support/failing-disk.ts";

let at: Fixture;
let restore: (() => void) | null = null;
const receiptsFile = (): string => join(at.home, "receipts.jsonl");

beforeEach(async () => {
  at = await engineFixture({ judgeCall: allowAll });
});
afterEach(async () => {
  restore?.();
  restore = null;
  await at.dispose();
});

const prompt = (text: string, request_id: string, agent?: string) =>
  ({ type: "prompt", text, request_id, ...(agent ? { agent } : {}) }) as const;

describe("a request_id", () => {
  it("sent a hundred times at once, with whatever else in it, starts one turn and everybody gets its receipt", async () => {
    const receipts = await Promise.all(
      Array.from({ length: 100 }, (_, n) => at.engine.prompt(prompt(`echo ${n}`, "k1"), local)),
    );
    expect(new Set(receipts.map((receipt) => JSON.stringify(receipt))).size).toBe(1);
    (await at.jobs.nextCall()).end();
    await at.event("turn_finished");
    expect(await at.engine.prompt(prompt("rm -rf x", "k1", "nobody"), local)).toEqual(receipts[0]);
    expect(at.events().filter((event) => event.type === "turn_started")).toHaveLength(1);
    expect(at.jobs.calls).toHaveLength(1);
  });

  it("of another principal is another prompt", async () => {
    at.jobs.answer = () => ({});
    const turns = [];
    for (const who of [local, actor("phone"), actor("laptop")])
      turns.push((await at.engine.prompt(prompt("echo", "k1"), who)).turn);
    expect(new Set(turns).size).toBe(3);
  });

  it("that was rejected is rejected again with the same error, after a restart too, even if it could run now", async () => {
    const { agent } = await at.engine.prompt(prompt("sleep 9", "k1"), local);
    const call = await at.jobs.nextCall();
    const refusal = { code: "conflict", reason: "busy", status: 409 };
    await expect(at.engine.prompt(prompt("two", "k2", agent), local)).rejects.toMatchObject(refusal);
    call.end();
    await at.event("turn_finished");
    await expect(at.engine.prompt(prompt("two", "k2", agent), local)).rejects.toMatchObject(refusal);
    await at.restart({ judgeCall: allowAll });
    await expect(at.engine.prompt(prompt("two", "k2", agent), local)).rejects.toMatchObject(refusal);
    expect(at.engine.receipt("k2", local)).toMatchObject({
      status: "rejected",
      agent: null,
      message: expect.stringContaining("busy"),
    });
    expect(at.jobs.calls).toHaveLength(0);
  });

  it("is unknown before it was sent and to others, and accepted after a restart", async () => {
    expect(at.engine.receipt("k1", local)).toEqual({
      request_id: "k1",
      status: "unknown",
      agent: null,
      turn: null,
      message: null,
    });
    const receipt = await at.engine.prompt(prompt("echo", "k1"), local);
    await at.restart();
    expect(at.engine.receipt("k1", local)).toMatchObject({ status: "accepted", turn: receipt.turn });
    expect(at.engine.receipt("k1", actor("phone"))).toMatchObject({ status: "unknown" });
    expect(await at.engine.prompt(prompt("echo", "k1"), local)).toEqual(receipt);
    expect(at.jobs.calls).toHaveLength(0);
  });

  it("like a name of every object is an ordinary one", async () => {
    at.jobs.answer = () => ({});
    for (const id of ["__proto__", "constructor", "toString"]) {
      expect(at.engine.receipt(id, local).status).toBe("unknown");
      await at.engine.prompt(prompt("echo", id), local);
      expect(at.engine.receipt(id, local).status).toBe("accepted");
    }
  });

  it.each([
    ["the receipts", () => receiptsFile()],
    ["the workspace", () => null],
  ])(
    "whose prompt %s refuses for want of disk is forgotten: nothing is announced, and it may be sent again",
    async (_title, file) => {
      await at.engine.prompt(prompt("warm up", "k0"), local);
      (await at.jobs.nextCall()).end();
      await at.event("turn_finished");
      const before = at.changes.length;
      const path = file();
      restore = failWrites({ code: "ENOSPC", partialBytes: 3, ...(path ? { when: ofFile(path) } : {}) });
      await expect(at.engine.prompt(prompt("echo", "k1"), local)).rejects.toMatchObject({
        code: "disk_full",
        status: 503,
      });
      restore();
      expect(at.changes.slice(before).filter((change) => change.type === "event")).toEqual([]);
      expect(at.engine.receipt("k1", local).status).toBe("unknown");
      expect(at.engine.counts()).toMatchObject({ running_agents: 0 });
      const receipt = await at.engine.prompt(prompt("echo", "k1"), local);
      expect((await at.jobs.nextCall()).spec.command).toBe("echo");
      expect(at.engine.snapshot().workspace.tabs[0]?.agents.map((agent) => agent.id)).toContain(
        receipt.agent,
      );
    },
  );

  it("whose transcript cannot be written leaves no agent, no half record and no ghost behind", async () => {
    const { id } = await at.engine.startAgent({ type: "agent_start" }, local);
    const path = join(at.home, "sessions", `${id}.jsonl`);
    const size = (await stat(path)).size;
    restore = failWrites({ code: "EDQUOT", partialBytes: 20, when: ofFile(path) });
    await expect(at.engine.prompt(prompt("echo", "k1", id), local)).rejects.toMatchObject({
      code: "disk_full",
    });
    restore();
    expect((await stat(path)).size).toBe(size);
    await at.restart({ judgeCall: allowAll });
    expect(at.engine.receipt("k1", local).status).toBe("unknown");
  });

  it("of a device that is revoked before the commit point starts nothing", async () => {
    const phone = actor("phone");
    const sending = at.engine.prompt(prompt("echo", "k1"), phone);
    phone.revoke();
    await expect(sending).rejects.toMatchObject({ code: "unauthorized" });
    expect(at.events()).toEqual([]);
    expect(at.jobs.calls).toEqual([]);
    expect(at.engine.snapshot().workspace.tabs[0]?.agents).toEqual([]);
  });
});

describe("a crash", () => {
  const intent = (agent: string, turn: string) =>
    `${JSON.stringify({ owner: "local", request_id: "k9", at: at.nowMs, status: "intent", seq: 0, workspace: "w", tab: "t", agent, turn })}\n`;

  it("after the intent and before the turn's record forgets the prompt, which may then run once", async () => {
    const { agent } = await at.engine.prompt(prompt("echo", "k1"), local);
    await appendFile(receiptsFile(), intent(agent, "01a17453-0000-7000-8000-000000000001"));
    await at.restart({ judgeCall: allowAll });
    expect(at.engine.receipt("k9", local).status).toBe("unknown");
    await at.engine.prompt(prompt("echo 9", "k9"), local);
    expect((await at.jobs.nextCall()).spec.command).toBe("echo 9");
  });

  it("cutting the receipts anywhere behind the intent neither loses the receipt nor runs the prompt again", async () => {
    const receipt = await at.engine.prompt(prompt("echo", "k1"), local);
    await at.engine.close();
    const whole = await readFile(receiptsFile());
    const intentEnd = whole.indexOf("\n") + 1;
    expect(whole.byteLength).toBeGreaterThan(intentEnd);
    for (let cut = intentEnd; cut <= whole.byteLength; cut += 7) {
      await writeFile(receiptsFile(), whole.subarray(0, cut));
      await at.restart({ judgeCall: allowAll });
      expect(await at.engine.prompt(prompt("echo", "k1"), local)).toEqual(receipt);
      expect(at.jobs.calls).toHaveLength(0);
    }
  });

  it("skips a damaged line in the middle and keeps the others", async () => {
    at.jobs.answer = () => ({});
    await at.engine.prompt(prompt("echo", "k1"), local);
    await at.engine.close();
    await appendFile(receiptsFile(), '{"owner":"local","requ\n\u0000\n{"status":"accepted"}\n');
    await at.restart({ judgeCall: allowAll });
    at.jobs.answer = () => ({});
    await at.engine.prompt(prompt("echo", "k2"), local);
    await at.engine.close();
    await at.restart();
    expect(at.engine.receipt("k1", local).status).toBe("accepted");
    expect(at.engine.receipt("k2", local).status).toBe("accepted");
    expect(at.problems.join()).toContain("damaged lines");
  });

  it("with a turn that ran ends it as failed at the next load, with its open request, and once only", async () => {
    await at.restart({ judgeCall: askAlways });
    const { agent, turn } = await at.engine.prompt(prompt("make", "k1"), local);
    await at.event("permission_requested");
    await at.restart();
    expect(at.engine.snapshot().workspace.tabs[0]?.agents[0]).toMatchObject({
      id: agent,
      state: "idle",
      live: false,
      turn: null,
    });
    for (let round = 0; round < 2; round += 1) {
      const { records } = await at.engine.readSession(agent, {});
      expect(records.slice(-3)).toMatchObject([
        { type: "permission_resolved", allowed: false, by: null },
        { type: "tool_finished", is_error: true, output: expect.stringContaining("daemon stopped") },
        { type: "turn_finished", turn, outcome: "failed", error: expect.stringContaining("daemon stopped") },
      ]);
      expect(records.filter((record) => record.type === "turn_finished")).toHaveLength(1);
      await at.restart({ judgeCall: allowAll });
    }
    at.jobs.answer = () => ({});
    await at.engine.prompt(prompt("again", "k2", agent), local);
    const finished = await at.event("turn_finished");
    const seqs = (await at.transcript(agent)).map((record) => record.seq);
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    expect(finished.outcome).toBe("done");
  });

  it("with a reserved prompt loses neither its text nor its receipt: the turn is failed, with a reason", async () => {
    const { agent } = await at.engine.prompt(prompt("sleep 9", "k1"), local);
    await at.jobs.nextCall();
    const reserved = await at.engine.prompt({ ...prompt("precious", "k2", agent), queue: true }, local);
    // As if the line that saves the look-up had not been written either.
    const lines = (await readFile(receiptsFile(), "utf8")).split("\n");
    await writeFile(
      receiptsFile(),
      lines.filter((line) => !(line.includes('"k2"') && line.includes('"accepted"'))).join("\n"),
    );
    await at.restart({ judgeCall: allowAll });
    expect(at.engine.receipt("k2", local)).toMatchObject({ status: "accepted", turn: reserved.turn });
    const { records } = await at.engine.readSession(agent, {});
    expect(records.slice(-4)).toMatchObject([
      { type: "turn_finished", outcome: "failed" },
      { type: "turn_started", turn: reserved.turn, request_id: "k2" },
      { type: "user_message", turn: reserved.turn, text: "precious" },
      {
        type: "turn_finished",
        turn: reserved.turn,
        outcome: "failed",
        error: expect.stringContaining("began"),
      },
    ]);
    expect(at.jobs.calls).toHaveLength(0);
    await at.restart();
    expect((await at.engine.readSession(agent, {})).records).toEqual(records);
  });

  it("does not end a reserved turn twice when only its file was left behind", async () => {
    const { agent } = await at.engine.prompt(prompt("sleep 9", "k1"), local);
    const call = await at.jobs.nextCall();
    await at.engine.prompt({ ...prompt("two", "k2", agent), queue: true }, local);
    const path = join(at.home, "sessions", `${agent}.next.json`);
    const file = await readFile(path);
    call.end();
    (await at.jobs.nextCall()).end();
    await at.change((change) => change.type === "agent_updated" && change.agent.state === "idle");
    await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
    const before = await at.transcript(agent);
    await writeFile(path, file, { mode: 0o600 });
    await at.restart();
    expect((await at.engine.readSession(agent, {})).records).toEqual(before);
    await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("leaves a torn transcript of which only the last line is lost", async () => {
    const { agent } = await at.engine.prompt(prompt("echo", "k1"), local);
    await at.jobs.nextCall();
    const path = join(at.home, "sessions", `${agent}.jsonl`);
    const whole = await readFile(path);
    await writeFile(path, whole.subarray(0, whole.byteLength - 5));
    await at.restart({ judgeCall: allowAll });
    const { records, damaged_records } = await at.engine.readSession(agent, {});
    expect(damaged_records).toBe(0);
    expect(records.map((record) => record.type)).toEqual([
      "agent_started",
      "turn_started",
      "user_message",
      "turn_finished",
    ]);
  });

  it("goes on counting events behind what it finds when the state file was set aside", async () => {
    at.jobs.answer = () => ({});
    const { agent } = await at.engine.prompt(prompt("echo", "k1"), local);
    await at.event("turn_finished");
    await at.engine.close();
    const path = join(at.home, "sessions", `${agent}.jsonl`);
    const bumped = (await readFile(path, "utf8")).replace(
      /"seq":(\d+)/g,
      (_, seq) => `"seq":${Number(seq) + 5e6}`,
    );
    await writeFile(path, bumped);
    await rm(join(at.home, "state.json"));
    await at.restart({ judgeCall: allowAll });
    expect((await at.engine.readSession(agent, {})).records).toHaveLength(6);
    at.jobs.answer = () => ({});
    await at.engine.prompt(prompt("echo", "k2", agent), local);
    expect((await at.event("turn_finished")).seq).toBeGreaterThan(5e6);
  });
});

describe("receipts that are kept", () => {
  it("are ten thousand; a device that floods us loses its own, not those of another", () => {
    const table = createReceiptTable(() => 1_000);
    const place = { workspace: "w", tab: "t", agent: "a", turn: "u" };
    table.set("quiet", "mine", { at: 0, status: "accepted", place });
    for (let n = 0; n < 12_000; n += 1) table.set("flood", `k${n}`, { at: 0, status: "accepted", place });
    expect(table.size).toBe(10_000);
    expect(table.get("quiet", "mine")).not.toBeNull();
    expect(table.get("flood", "k0")).toBeNull();
    expect(table.get("flood", "k11999")).not.toBeNull();
  });

  it("end after thirty days", async () => {
    at.jobs.answer = () => ({});
    await at.engine.prompt(prompt("echo", "k1"), local);
    at.nowMs += 31 * 24 * 60 * 60_000;
    expect(at.engine.receipt("k1", local).status).toBe("unknown");
    await at.restart();
    expect(at.engine.receipt("k1", local).status).toBe("unknown");
  });

  it("survive a clock that jumps ahead and back", async () => {
    at.jobs.answer = () => ({});
    const { turn } = await at.engine.prompt(prompt("echo", "k1"), local);
    at.nowMs += 400 * 24 * 60 * 60_000;
    expect(at.engine.receipt("k1", local).status).toBe("unknown");
    at.nowMs -= 400 * 24 * 60 * 60_000;
    expect(await at.engine.prompt(prompt("echo", "k1"), local)).toMatchObject({ turn });
  });

  it("do not make the file grow for ever: it is written anew while prompts go on", async () => {
    const big = Array.from({ length: 30_000 }, (_, n) =>
      JSON.stringify({
        owner: "local",
        request_id: `k${n % 10}`,
        at: at.nowMs,
        status: "rejected",
        error: { code: "conflict", message: "x" },
      }),
    );
    await at.engine.close();
    await mkdir(at.home, { recursive: true });
    await writeFile(receiptsFile(), `${big.join("\n")}\n`, { mode: 0o600 });
    await at.restart({ judgeCall: allowAll });
    expect((await readFile(receiptsFile(), "utf8")).split("\n")).toHaveLength(11);
    at.jobs.answer = () => ({});
    const results = await Promise.allSettled(
      Array.from({ length: 300 }, (_, n) => at.engine.prompt(prompt("echo", `n${n}`, "nobody"), local)),
    );
    expect(results.every((result) => result.status === "rejected")).toBe(true);
    await at.restart();
    expect(at.engine.receipt("n299", local).status).toBe("rejected");
    expect(at.engine.receipt("k3", local).status).toBe("rejected");
  });
});

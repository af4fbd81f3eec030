import { appendFile, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import { allowAll, engineFixture, type Fixture, local } from "./support/engine-fixture.ts";

let at: Fixture;
beforeEach(async () => {
  at = await engineFixture({ judgeCall: allowAll });
});
afterEach(async () => {
  await at.dispose();
});

async function turns(count: number): Promise<string> {
  at.jobs.answer = (spec) => ({ output: spec.command });
  const { id } = await at.engine.startAgent({ type: "agent_start" }, local);
  for (let n = 0; n < count; n += 1) {
    const { turn } = await at.engine.prompt({ type: "prompt", agent: id, text: `echo ${n}` }, local);
    await at.event("turn_finished", (event) => event.turn === turn);
  }
  return id;
}

describe("readSession", () => {
  it("pages backwards through a transcript until there is nothing before", async () => {
    const agent = await turns(8);
    const whole = await at.transcript(agent);
    let records: AgentEvent[] = [];
    let before: number | null = null;
    do {
      const page = await at.engine.readSession(agent, { limit: 7, ...(before === null ? {} : { before }) });
      expect(page.records.length).toBeLessThanOrEqual(7);
      records = [...page.records, ...records];
      before = page.before;
    } while (before !== null);
    expect(records).toEqual(whole);
  });

  it("shows what the open turn has said so far; with later events by seq nothing is lost and nothing doubled", async () => {
    const { agent } = await at.engine.prompt({ type: "prompt", text: "make" }, local);
    const call = await at.jobs.nextCall();
    call.spec.onOutput("one ");
    call.spec.onOutput("two ");
    const page = await at.engine.readSession(agent, {});
    call.spec.onOutput("three");
    call.end({ output: "one two three" });
    await at.event("turn_finished");
    expect(page.streaming).toMatchObject({ message: null, text: "", tools: [{ output: "one two " }] });
    const later = at.events().filter((event) => event.seq > page.seq);
    expect(later.map((event) => event.type)).toEqual(["tool_output", "tool_finished", "turn_finished"]);
    expect(page.records.map((record) => record.type)).toEqual([
      "agent_started",
      "turn_started",
      "user_message",
      "tool_started",
    ]);
    expect((await at.engine.readSession(agent, {})).streaming).toBeNull();
  });

  it("keeps the streaming text bounded, its newest part", async () => {
    const { agent } = await at.engine.prompt({ type: "prompt", text: "make" }, local);
    const call = await at.jobs.nextCall();
    for (let n = 0; n < 40; n += 1) call.spec.onOutput("x".repeat(16_384));
    call.spec.onOutput("END");
    const { streaming } = await at.engine.readSession(agent, {});
    expect(streaming?.tools[0]?.output.length).toBe(256 * 1024);
    expect(streaming?.tools[0]?.output.endsWith("END")).toBe(true);
  });

  it.each(["../state", "..%2fstate", "x", "", `${newId()}.jsonl`, newId().toUpperCase(), newId()])(
    "knows no session %j, and such a name reaches no path",
    async (id) => {
      await expect(at.engine.readSession(id, {})).rejects.toMatchObject({ code: "not_found", status: 404 });
    },
  );

  it("reads the session of an agent that is on no tab any more, and an agent without a record yet", async () => {
    const agent = await turns(1);
    await at.engine.closeAgent(agent, local);
    expect((await at.engine.readSession(agent, {})).records).toHaveLength(6);
    const doc = at.engine.snapshot().workspace;
    const path = join(at.home, "workspaces", `${doc.id}.json`);
    const id = newId();
    const saved = JSON.parse(await readFile(path, "utf8"));
    saved.tabs[0].agents.push({
      id,
      parent: null,
      label: null,
      title: null,
      runtime: "shell",
      model: null,
      updated: "",
    });
    await writeFile(path, JSON.stringify(saved));
    await at.restart();
    expect(await at.engine.readSession(id, {})).toMatchObject({ records: [], before: null, streaming: null });
  });

  it.each([{ limit: 0 }, { limit: -1 }, { limit: 1.5 }, { before: -1 }, { before: Number.NaN }])(
    "refuses %j",
    async (page) => {
      const agent = await turns(0);
      await expect(at.engine.readSession(agent, page)).rejects.toMatchObject({ code: "invalid_field" });
    },
  );

  it("skips and counts damaged records and reads the others", async () => {
    const agent = await turns(1);
    await at.engine.close();
    const path = join(at.home, "sessions", `${agent}.jsonl`);
    const before = await at.transcript(agent);
    await appendFile(path, '{"type":"x"}\nnot json\n[]\n{"agent":1,"type":"x","seq":1,"at":"x"}\n');
    await at.restart();
    const page = await at.engine.readSession(agent, {});
    expect(page.records).toEqual(before);
    expect(page.damaged_records).toBe(4);
  });

  it("skips and counts records that say what they are and are not, and gives those of a type to come", async () => {
    const agent = await turns(1);
    await at.engine.close();
    const path = join(at.home, "sessions", `${agent}.jsonl`);
    const before = await at.transcript(agent);
    const envelope = { agent, at: "2026-01-01T00:00:00.000Z", seq: 0 };
    const damaged = [
      { type: "user_message", turn: newId(), text: { a: 1 }, attachments: 7, by: null },
      { type: "user_message", turn: newId(), text: "x", attachments: [null] },
      { type: "assistant_message", message: null },
      { type: "tool_started", call_id: null },
      { type: "tool_finished", call_id: "c", output: 3, millis: "x", diff: 4 },
      { type: "turn_finished" },
    ];
    const unknown = { ...envelope, type: "of_next_year", anything: [] };
    const lines = [...damaged.map((body) => ({ ...envelope, ...body })), unknown];
    await appendFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await at.restart();
    const page = await at.engine.readSession(agent, {});
    expect(page.records).toEqual([...before, unknown]);
    expect(page.damaged_records).toBe(damaged.length);
  });

  it("follows no link: a session that is one is not read", async () => {
    const id = newId();
    await symlink(join(at.home, "state.json"), join(at.home, "sessions", `${id}.jsonl`));
    await expect(at.engine.readSession(id, {})).rejects.toMatchObject({
      code: "disk_full",
      message: expect.stringContaining("cannot be used (ELOOP)"),
    });
  });

  it("says so when something else is in a transcript's place, and the log names it", async () => {
    const id = newId();
    const path = join(at.home, "sessions", `${id}.jsonl`);
    await mkdir(path);
    await expect(at.engine.readSession(id, {})).rejects.toMatchObject({
      code: "disk_full",
      detail: `${path} is not a regular file`,
    });
  });
});

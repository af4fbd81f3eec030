import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { actor, allowAll, engineFixture, type Fixture, local } from "./support/engine-fixture.ts";
import { failWrites } from "./support/failing-disk.ts";

let at: Fixture;
beforeEach(async () => {
  at = await engineFixture({ judgeCall: allowAll });
  at.jobs.answer = () => ({ output: "ok" });
});
afterEach(async () => {
  await at.dispose();
});

const tabs = () => at.engine.snapshot().workspace.tabs;
const open = (agent: string, by = local) => at.engine.openAgent({ type: "agent_open", agent }, by);

/** An agent with one turn in its transcript. */
async function session(text = "make", tab?: string): Promise<string> {
  const { agent } = await at.engine.prompt(
    { type: "prompt", text, ...(tab === undefined ? {} : { tab }) },
    local,
  );
  await at.change(
    (change) => change.type === "agent_updated" && change.agent.id === agent && change.agent.state === "idle",
  );
  return agent;
}

describe("agent_open", () => {
  it("puts a closed session back on a tab for its folder, not live before it is prompted", async () => {
    const agent = await session();
    const other = await session("other");
    await at.engine.closeAgent(agent, local);
    at.changes.length = 0;
    expect(await open(agent)).toMatchObject({
      id: agent,
      tab: tabs()[0]?.id,
      label: "make",
      runtime: "shell",
      state: "idle",
      live: false,
    });
    expect(tabs()[0]).toMatchObject({ active_agent: agent, loaded: true });
    expect(tabs()[0]?.agents.map((row) => row.id)).toEqual([other, agent]);
    expect(at.changes.map((change) => change.type)).toEqual(["agent_updated", "tab_updated"]);
    const { turn } = await at.engine.prompt({ type: "prompt", agent, text: "again" }, local);
    await at.event("turn_finished", (event) => event.turn === turn);
    expect(tabs()[0]?.agents[1]).toMatchObject({ live: true });
    const { records } = await at.engine.readSession(agent, {});
    expect(records.filter((record) => record.type === "turn_finished")).toHaveLength(2);
  });

  it("of one that is on a tab makes that tab, and it in there, the active ones, in whatever workspace", async () => {
    const agent = await session();
    const cwd = join(at.project, "..");
    const second = await at.engine.createTab({ type: "tab_create", cwd }, local);
    expect(at.engine.snapshot().workspace.active_tab).toBe(second.id);
    await session("newer", tabs()[0]?.id);
    await open(agent);
    expect(at.engine.snapshot().workspace.active_tab).toBe(tabs()[0]?.id);
    expect(tabs()[0]?.active_agent).toBe(agent);
    await at.restart();
    expect(at.engine.snapshot().workspace.active_tab).toBe(tabs()[0]?.id);
    expect(tabs()[0]).toMatchObject({ active_agent: agent, loaded: false });
    expect(await open(agent)).toMatchObject({ live: false });
    expect(tabs()[0]).toMatchObject({ loaded: true });
  });

  it("makes a tab for the folder where there is none", async () => {
    const cwd = join(at.project, "..");
    const { id } = await at.engine.createTab({ type: "tab_create", cwd }, local);
    const agent = await session("make", id);
    await at.engine.closeTab(id, local);
    const { tab } = await open(agent);
    expect(tabs().find((each) => each.id === tab)).toMatchObject({ cwd, trusted: true, active_agent: agent });
    expect(tabs()).toHaveLength(2);
  });

  it("asked for many times at once opens it once", async () => {
    const agent = await session();
    await at.engine.closeAgent(agent, local);
    const rows = await Promise.all(Array.from({ length: 20 }, () => open(agent)));
    expect(new Set(rows.map((row) => row.tab)).size).toBe(1);
    expect(tabs().flatMap((tab) => tab.agents)).toHaveLength(1);
  });

  it("of a damaged session says that it can still be read, and nothing is opened", async () => {
    const agent = await session();
    await at.engine.closeAgent(agent, local);
    const path = join(at.home, "sessions", `${agent}.jsonl`);
    const text = await readFile(path, "utf8");
    await writeFile(path, `garbage\n${text.slice(text.indexOf("\n") + 1)}`);
    const { rev } = at.engine.snapshot();
    await expect(open(agent)).rejects.toMatchObject({
      code: "invalid_field",
      field: "agent",
      message: expect.stringContaining("damaged"),
    });
    expect(at.engine.snapshot().rev).toBe(rev);
    expect((await at.engine.readSession(agent, {})).damaged_records).toBe(1);
  });

  it("of a session whose folder is gone says so, and loses nothing", async () => {
    const cwd = join(at.project, "..", "gone");
    await mkdir(cwd);
    const { id } = await at.engine.createTab({ type: "tab_create", cwd }, local);
    const agent = await session("make", id);
    await at.engine.closeTab(id, local);
    await rm(cwd, { recursive: true });
    await expect(open(agent)).rejects.toMatchObject({
      code: "invalid_field",
      message: expect.stringContaining("does not exist"),
    });
    expect((await at.engine.readSession(agent, {})).records.length).toBeGreaterThan(3);
  });

  it.each(["../state", "x", "", newId()])("knows no session %j", async (id) => {
    await expect(open(id)).rejects.toMatchObject({ code: "not_found", status: 404 });
  });

  it("follows no link, and takes no hand-made session into a folder outside the browse root of a device", async () => {
    const linked = newId();
    await symlink(join(at.home, "state.json"), join(at.home, "sessions", `${linked}.jsonl`));
    await expect(open(linked)).rejects.toMatchObject({ code: "not_found" });
    const id = newId();
    const record = { agent: id, seq: 1, at: new Date(0).toISOString(), type: "agent_started" };
    const fields = { label: "x", parent: null, runtime: "shell", model: null };
    await writeFile(
      join(at.home, "sessions", `${id}.jsonl`),
      `${JSON.stringify({ ...record, ...fields, cwd: "/" })}\n`,
    );
    await expect(open(id, actor("phone", ["view", "drive", "approve"]))).rejects.toMatchObject({
      code: "path_refused",
    });
    await writeFile(
      join(at.home, "sessions", `${id}.jsonl`),
      `${JSON.stringify({ ...record, ...fields, cwd: at.home })}\n`,
    );
    await expect(open(id)).rejects.toMatchObject({ code: "path_refused" });
    expect(tabs()).toHaveLength(1);
  });

  it("changes nothing for a device that is revoked meanwhile, or on a full disk", async () => {
    const agent = await session();
    await at.engine.closeAgent(agent, local);
    const phone = actor("phone");
    const opening = open(agent, phone);
    phone.revoke();
    await expect(opening).rejects.toMatchObject({ code: "unauthorized" });
    const restore = failWrites({ code: "ENOSPC" });
    await expect(open(agent)).rejects.toMatchObject({ code: "disk_full" });
    restore();
    expect(tabs()[0]?.agents).toEqual([]);
    expect(await open(agent)).toMatchObject({ id: agent });
  });
});

describe("agent_activate", () => {
  it("makes an agent its tab's active one, over restarts", async () => {
    const first = await session("one");
    const second = await session("two");
    expect(tabs()[0]?.active_agent).toBe(second);
    at.changes.length = 0;
    await at.engine.activateAgent({ type: "agent_activate", agent: first }, local);
    expect(at.changes).toMatchObject([{ type: "tab_updated", tab: { active_agent: first } }]);
    await at.engine.activateAgent({ type: "agent_activate", agent: first }, local);
    expect(at.changes).toHaveLength(1);
    await at.restart();
    expect(tabs()[0]?.active_agent).toBe(first);
  });

  it("knows no other agents", async () => {
    await expect(
      at.engine.activateAgent({ type: "agent_activate", agent: newId() }, local),
    ).rejects.toMatchObject({ code: "not_found", field: "agent" });
  });
});

import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { engineLimits } from "../../src/engine/engine-limits.ts";
import { newId } from "../../src/lib/ids.ts";
import { actor, allowAll, engineFixture, type Fixture, local } from "./support/engine-fixture.ts";
import { failWrites } from "./support/failing-disk.ts";

let at: Fixture;
let restore: (() => void) | null = null;
beforeEach(async () => {
  at = await engineFixture({ judgeCall: allowAll });
  at.jobs.answer = () => ({});
});
afterEach(async () => {
  restore?.();
  restore = null;
  await at.dispose();
});

const work = (): string => dirname(at.project);
const main = () => at.engine.snapshot().workspace;
const firstTab = (): string => main().tabs[0]?.id ?? "";
const isClosed = () => false;
const driver = actor("driver", ["view", "drive"]);

async function create(name: string): Promise<string> {
  return (await at.engine.places.create({ type: "workspace_create", name }, local)).id;
}
async function folder(name: string): Promise<string> {
  const path = join(work(), name);
  await mkdir(path, { recursive: true });
  return path;
}
async function openTab(workspace: string, name: string): Promise<string> {
  const cwd = await folder(name);
  return (await at.engine.places.openTab({ type: "tab_create", workspace, cwd }, local)).tab.id;
}
const tabsOf = (workspace: string): string[] =>
  at.engine.snapshot(workspace).workspace.tabs.map((tab) => tab.name);

describe("workspace_create and workspace_rename", () => {
  it("make a workspace without a tab, announce it and keep it over a restart", async () => {
    const row = await at.engine.places.create({ type: "workspace_create", name: " two\u202e\n " }, local);
    expect(row).toMatchObject({ name: "two", tabs: 0, active_tab: null });
    expect(at.changes).toEqual([expect.objectContaining({ type: "workspace_created", workspace: row })]);
    await at.engine.places.rename({ type: "workspace_rename", workspace: row.id, name: "deux" }, local);
    expect(at.changes[1]).toMatchObject({
      type: "workspace_updated",
      workspace: { id: row.id, name: "deux" },
    });
    expect(main().name).toBe("main");
    await at.restart();
    expect(at.engine.places.list().map((each) => each.name)).toEqual(
      expect.arrayContaining(["main", "deux"]),
    );
  });

  it("refuse a name without anything to show, an unknown workspace, and a device that was revoked", async () => {
    const { places } = at.engine;
    await expect(places.create({ type: "workspace_create", name: "\u202e" }, local)).rejects.toMatchObject({
      code: "invalid_field",
      field: "name",
    });
    await expect(
      places.rename({ type: "workspace_rename", workspace: newId(), name: "x" }, local),
    ).rejects.toMatchObject({ code: "not_found", field: "workspace" });
    const phone = actor("phone");
    phone.revoke();
    await expect(places.create({ type: "workspace_create", name: "x" }, phone)).rejects.toMatchObject({
      code: "unauthorized",
    });
    expect(at.changes).toEqual([]);
  });

  it("flood: never make more workspaces than are read at the next start", async () => {
    const results = await Promise.allSettled(
      Array.from({ length: engineLimits.workspaces + 20 }, (_, n) => create(`w${n}`)),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(engineLimits.workspaces - 1);
    expect(results.at(-1)).toMatchObject({ reason: { code: "conflict", reason: "in_use" } });
    await at.restart();
    expect(at.engine.places.list()).toHaveLength(engineLimits.workspaces);
    expect(at.problems).toEqual([]);
  });

  it("on a full disk are refused and change nothing", async () => {
    restore = failWrites({ code: "ENOSPC" });
    await expect(create("two")).rejects.toMatchObject({ code: "disk_full" });
    restore();
    expect(at.engine.places.list()).toHaveLength(1);
    expect(at.changes).toEqual([]);
  });
});

describe("workspace_open", () => {
  it("shows the workspace and makes it the last used by who may drive, over a restart too", async () => {
    const two = await create("two");
    expect(at.engine.places.open(two, actor("viewer", ["view"])).name).toBe("two");
    expect(at.engine.places.last()).not.toBe(two);
    expect(at.engine.places.open(two, driver)).toMatchObject({ id: two, name: "two", tabs: [] });
    expect(at.engine.snapshot().workspace.id).toBe(two);
    await at.engine.close();
    await at.restart();
    expect(at.engine.places.last()).toBe(two);
    expect(() => at.engine.places.open(newId(), local)).toThrow(/no such workspace/);
  });
});

describe("workspace_delete", () => {
  it("takes the workspace, its tabs and its file away; transcripts stay", async () => {
    const two = await create("two");
    const tab = await openTab(two, "api");
    const { agent } = await at.engine.prompt({ type: "prompt", tab, text: "ls" }, local);
    await at.event("turn_finished");
    await at.engine.places.remove(two, local, isClosed);
    expect(at.changes.at(-1)).toMatchObject({ type: "workspace_deleted", workspace: two });
    expect(at.engine.places.list().map(({ name }) => name)).toEqual(["main"]);
    expect(at.engine.places.last()).toBe(main().id);
    await expect(at.engine.prompt({ type: "prompt", agent, text: "x" }, local)).rejects.toMatchObject({
      code: "not_found",
    });
    expect((await at.engine.readSession(agent, {})).records.length).toBeGreaterThan(2);
    await at.restart();
    expect(at.engine.places.list()).toHaveLength(1);
    expect(await readdir(join(at.home, "workspaces"))).toHaveLength(1);
  });

  it("is refused for the only one, for one that a client has open, and while agents run", async () => {
    await expect(at.engine.places.remove(main().id, local, isClosed)).rejects.toMatchObject({
      code: "conflict",
      reason: "in_use",
    });
    const two = await create("two");
    await expect(at.engine.places.remove(two, local, () => true)).rejects.toMatchObject({
      code: "conflict",
      reason: "in_use",
      field: "workspace",
    });
    at.jobs.answer = null;
    const tab = await openTab(two, "api");
    const { agent } = await at.engine.prompt({ type: "prompt", tab, text: "sleep 9" }, local);
    await expect(at.engine.places.remove(two, local, isClosed)).rejects.toMatchObject({
      code: "conflict",
      reason: "running",
    });
    expect(tabsOf(two)).toEqual(["api"]);
    await at.engine.cancel(agent, local);
    await at.engine.places.remove(two, local, isClosed);
    await expect(at.engine.places.remove(two, local, isClosed)).rejects.toMatchObject({ code: "not_found" });
  });

  it("race: of two that delete the last two workspaces one is left", async () => {
    const two = await create("two");
    const results = await Promise.allSettled([
      at.engine.places.remove(two, local, isClosed),
      at.engine.places.remove(main().id, local, isClosed),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(at.engine.places.list()).toHaveLength(1);
  });

  it("race: with prompts to its agents leaves no turn behind, and no prompt half done", async () => {
    at.jobs.answer = null;
    const two = await create("two");
    const tab = await openTab(two, "api");
    const results = await Promise.allSettled([
      ...Array.from({ length: 10 }, (_, n) =>
        at.engine.prompt({ type: "prompt", tab, text: `sleep ${n}` }, local),
      ),
      at.engine.places.remove(two, local, isClosed),
      ...Array.from({ length: 10 }, (_, n) =>
        at.engine.prompt({ type: "prompt", tab, text: `sleep ${n}` }, local),
      ),
    ]);
    const removed = results[10]?.status === "fulfilled";
    const started = at.events().filter((event) => event.type === "turn_started").length;
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(started + (removed ? 1 : 0));
    expect(at.engine.places.list()).toHaveLength(removed ? 1 : 2);
    await at.engine.close();
    expect(at.engine.counts().running_agents).toBe(0);
    expect(at.events().filter((event) => event.type === "turn_finished")).toHaveLength(started);
  });

  it("ends the job requests that waited in it, and leaves its jobs alone", async () => {
    const two = await create("two");
    const tab = await openTab(two, "api");
    await at.engine.startJob({ type: "job_start", tab, command: "npm run dev" }, local);
    await at.engine.startJob({ type: "job_start", tab, command: "rm -r x" }, driver);
    expect(at.engine.snapshot().pending).toHaveLength(1);
    await at.engine.places.remove(two, local, isClosed);
    expect(at.engine.snapshot()).toMatchObject({ pending: [], jobs: [{ state: "running" }] });
  });

  it("by a device that is revoked meanwhile deletes nothing", async () => {
    const two = await create("two");
    const phone = actor("phone");
    const removing = at.engine.places.remove(two, phone, isClosed);
    phone.revoke();
    await expect(removing).rejects.toMatchObject({ code: "unauthorized" });
    expect(at.engine.places.list()).toHaveLength(2);
  });
});

describe("tab_rename and tab_activate", () => {
  it("rename and activate, announce what changed, and are back after a restart", async () => {
    const { id } = main();
    const api = await openTab(id, "api");
    at.changes.length = 0;
    await at.engine.places.renameTab({ type: "tab_rename", tab: api, name: "backend" }, local);
    expect(at.changes).toMatchObject([{ type: "tab_updated", tab: { id: api, name: "backend" } }]);
    at.changes.length = 0;
    const first = firstTab();
    await at.engine.places.activateTab(first, local);
    expect(at.changes).toMatchObject([{ type: "workspace_updated", workspace: { id, active_tab: first } }]);
    await at.engine.places.activateTab(first, local);
    expect(at.changes).toHaveLength(1);
    await at.restart();
    expect(main()).toMatchObject({ active_tab: first, tabs: [{}, { name: "backend" }] });
  });

  it("refuse unknown tabs and empty names", async () => {
    const unknown = newId();
    await expect(
      at.engine.places.renameTab({ type: "tab_rename", tab: unknown, name: "x" }, local),
    ).rejects.toMatchObject({ code: "not_found", field: "tab" });
    await expect(at.engine.places.activateTab(unknown, local)).rejects.toMatchObject({ field: "tab" });
    await expect(
      at.engine.places.renameTab({ type: "tab_rename", tab: firstTab(), name: " \n" }, local),
    ).rejects.toMatchObject({ code: "invalid_field", field: "name" });
  });

  it("a tab whose folder vanished can still be handled, and says so when something is to run", async () => {
    const gone = await openTab(main().id, "gone");
    await rm(join(work(), "gone"), { recursive: true });
    await at.engine.places.renameTab({ type: "tab_rename", tab: gone, name: "was here" }, local);
    await at.engine.prompt({ type: "prompt", tab: gone, text: "ls" }, local);
    expect(await at.event("turn_finished")).toMatchObject({
      outcome: "failed",
      error: expect.stringContaining("does not exist"),
    });
    await expect(
      at.engine.startJob({ type: "job_start", tab: gone, command: "ls" }, local),
    ).rejects.toMatchObject({ code: "invalid_field", field: "cwd" });
    await expect(
      at.engine.places.launch({ type: "launch", cwd: join(work(), "gone") }, local),
    ).rejects.toMatchObject({ code: "invalid_field", field: "cwd" });
    await at.engine.closeTab(gone, local);
  });
});

describe("tab_move", () => {
  const move = (tab: string, index: number, workspace?: string) =>
    at.engine.places.moveTab(
      { type: "tab_move", tab, index, ...(workspace === undefined ? {} : { workspace }) },
      local,
    );

  it("within a workspace changes the order and nothing else", async () => {
    const { id } = main();
    for (const name of ["a", "b", "c"]) await openTab(id, name);
    at.changes.length = 0;
    await move(firstTab(), 2);
    expect(tabsOf(id)).toEqual(["a", "b", "project", "c"]);
    expect(at.changes).toMatchObject([
      { type: "tabs_reordered", workspace: id, tabs: main().tabs.map((tab) => tab.id) },
    ]);
    await move(firstTab(), 3);
    await move(main().tabs[3]?.id ?? "", 0);
    expect(tabsOf(id)).toEqual(["a", "b", "project", "c"]);
    await at.restart();
    expect(tabsOf(id)).toEqual(["a", "b", "project", "c"]);
  });

  it("to another workspace takes its agents along, running ones too, and both sides are told", async () => {
    at.jobs.answer = null;
    const { id } = main();
    const two = await create("two");
    const tab = await openTab(id, "api");
    const { agent } = await at.engine.prompt({ type: "prompt", tab, text: "sleep 9" }, local);
    const call = await at.jobs.nextCall();
    at.changes.length = 0;
    expect(await move(tab, 0, two)).toMatchObject({ id: tab, workspace: two });
    expect(at.changes).toMatchObject([
      { type: "tab_updated", tab: { id: tab, workspace: two } },
      { type: "tabs_reordered", workspace: id, tabs: [firstTab()] },
      { type: "workspace_updated", workspace: { id, tabs: 1 } },
      { type: "tabs_reordered", workspace: two, tabs: [tab] },
      { type: "workspace_updated", workspace: { id: two, tabs: 1, active_tab: tab } },
    ]);
    call.end();
    await at.event("turn_finished");
    expect(at.changes.at(-2)).toMatchObject({ type: "event", workspace: two, tab });
    await at.restart();
    expect(at.problems).toEqual([]);
    expect(at.engine.snapshot(two).workspace.tabs).toMatchObject([{ id: tab, agents: [{ id: agent }] }]);
    expect(tabsOf(id)).toEqual(["project"]);
  });

  it("to another workspace takes its jobs along, and tells of each", async () => {
    const { id } = main();
    const two = await create("two");
    const tab = await openTab(id, "api");
    const started = await at.engine.startJob({ type: "job_start", tab, command: "sleep 9" }, local);
    const other = await at.engine.startJob({ type: "job_start", tab: firstTab(), command: "sleep 9" }, local);
    const job = "job" in started ? started.job.id : "";
    const untouched = "job" in other ? other.job.id : "";
    at.changes.length = 0;
    await move(tab, 0, two);
    expect(at.changes.filter(({ type }) => type === "job_updated")).toMatchObject([
      { type: "job_updated", job: { id: job, tab, workspace: two, state: "running" } },
    ]);
    const workspaces = Object.fromEntries(at.engine.snapshot().jobs.map((each) => [each.id, each.workspace]));
    expect(workspaces).toEqual({ [job]: two, [untouched]: id });
    expect(at.engine.listJobs().find((each) => each.id === job)).toMatchObject({ workspace: two });
  });

  it("refuses places past the end, unknown tabs and workspaces, and nothing moves", async () => {
    const { id } = main();
    const two = await create("two");
    await openTab(id, "a");
    at.changes.length = 0;
    for (const [index, workspace] of [
      [2, undefined],
      [1_000_000, undefined],
      [1, two],
    ] as const)
      await expect(move(firstTab(), index, workspace)).rejects.toMatchObject({
        code: "invalid_field",
        field: "index",
      });
    await expect(move(firstTab(), 0, newId())).rejects.toMatchObject({
      code: "not_found",
      field: "workspace",
    });
    await expect(move(newId(), 0)).rejects.toMatchObject({ code: "not_found", field: "tab" });
    expect(at.changes).toEqual([]);
    expect(tabsOf(id)).toEqual(["project", "a"]);
  });

  it("carries a request that waits: the snapshot says where it is now", async () => {
    const two = await create("two");
    const tab = await openTab(main().id, "api");
    await at.engine.startJob({ type: "job_start", tab, command: "rm -r x" }, driver);
    await move(tab, 0, two);
    expect(at.engine.snapshot().pending).toMatchObject([{ tab, workspace: two }]);
  });

  it("race: moves in opposite directions and closes lose no tab and wait for nobody", async () => {
    const { id } = main();
    const two = await create("two");
    const here: string[] = [];
    const there: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      here.push(await openTab(id, `h${n}`));
      there.push(await openTab(two, `t${n}`));
    }
    const results = await Promise.allSettled([
      ...here.map((tab) => move(tab, 0, two)),
      ...there.map((tab) => move(tab, 0, id)),
      at.engine.closeTab(here[5] ?? "", local),
      at.engine.places.renameTab({ type: "tab_rename", tab: here[0] ?? "", name: "renamed" }, local),
    ]);
    const unexpected = results.flatMap((result) =>
      result.status === "rejected" && result.reason.code !== "not_found" ? [result.reason] : [],
    );
    expect(unexpected).toEqual([]);
    const all = [...tabsOf(id), ...tabsOf(two)];
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBe(12);
    await at.restart();
    expect([...tabsOf(id), ...tabsOf(two)].sort()).toEqual(all.sort());
    expect(at.problems).toEqual([]);
  });

  it("kill -9 between the two files: the tab has arrived, and neither workspace is lost", async () => {
    const { id } = main();
    const two = await create("two");
    const tab = await openTab(id, "api");
    const before = await readFile(join(at.home, "workspaces", `${id}.json`), "utf8");
    await move(tab, 0, two);
    // As it was when only the target had been written.
    await writeFile(join(at.home, "workspaces", `${id}.json`), before);
    const target = join(at.home, "workspaces", `${two}.json`);
    expect(JSON.parse(await readFile(target, "utf8")).tabs[0].moved_from).toBe(id);
    await at.restart();
    expect(at.problems).toEqual([]);
    expect(tabsOf(id)).toEqual(["project"]);
    expect(tabsOf(two)).toEqual(["api"]);
    await at.engine.places.renameTab({ type: "tab_rename", tab, name: "x" }, local);
    expect(JSON.parse(await readFile(target, "utf8")).tabs[0]).not.toHaveProperty("moved_from");
  });

  it("on a full disk is refused and the tab stays where it was", async () => {
    const { id } = main();
    const two = await create("two");
    restore = failWrites({ code: "ENOSPC" });
    await expect(move(firstTab(), 0, two)).rejects.toMatchObject({ code: "disk_full" });
    restore();
    expect(tabsOf(id)).toEqual(["project"]);
    expect(tabsOf(two)).toEqual([]);
  });
});

describe("launch", () => {
  const launch = (command: object, who = local) =>
    at.engine.places.launch({ type: "launch", ...command }, who);

  it("without anything opens the last workspace at its active tab", async () => {
    const { id, active_tab } = main();
    expect(await launch({})).toEqual({
      workspace: id,
      tab: active_tab,
      agent: null,
      turn: null,
      trusted_now: null,
    });
    expect(await launch({ workspace: "last" })).toMatchObject({ workspace: id, tab: active_tab });
    expect(at.changes).toEqual([]);
  });

  it("finds the tab of a folder, by a link too, or makes one, and prompts a new agent there", async () => {
    const cwd = await folder("api");
    const made = await launch({ cwd, text: "ls", mode: "edits" });
    expect(made).toMatchObject({ workspace: main().id, trusted_now: { hooks: [] } });
    expect(await at.event("turn_finished")).toMatchObject({ agent: made.agent, turn: made.turn });
    expect(main()).toMatchObject({ active_tab: made.tab, tabs: [{}, { cwd, mode: "edits" }] });
    await at.engine.places.activateTab(firstTab(), local);
    const found = await launch({ cwd: `${cwd}/.`, mode: "ask" });
    expect(found).toMatchObject({ tab: made.tab, agent: null, trusted_now: null });
    expect(main()).toMatchObject({ active_tab: made.tab, tabs: [{}, { mode: "ask" }] });
  });

  it("makes a new workspace each time, called after the folder", async () => {
    const cwd = await folder("api");
    const one = await launch({ workspace: "new", cwd });
    const other = await launch({ workspace: "new" });
    expect(new Set([main().id, one.workspace, other.workspace]).size).toBe(2);
    expect(at.engine.snapshot(one.workspace).workspace).toMatchObject({ name: "api", tabs: [{ cwd }] });
    expect(at.engine.snapshot(other.workspace).workspace.tabs).toMatchObject([{ cwd: at.project }]);
    expect(at.engine.places.last()).toBe(other.workspace);
  });

  it("is known as the last used one after an end that follows at once, with nothing left to be written", async () => {
    const { workspace } = await launch({ workspace: "new" });
    await at.engine.close();
    expect(JSON.parse(await readFile(join(at.home, "state.json"), "utf8")).last_workspace).toBe(workspace);
  });

  it("takes a workspace by name or id, and makes one that has a new name", async () => {
    const two = await create("two");
    const cwd = await folder("api");
    expect(await launch({ workspace: { name: "two" }, cwd })).toMatchObject({ workspace: two });
    expect(await launch({ workspace: { id: two } })).toMatchObject({ workspace: two });
    const named = await launch({ workspace: { name: "three" }, cwd });
    expect(at.engine.snapshot(named.workspace).workspace).toMatchObject({ name: "three", tabs: [{ cwd }] });
    await expect(launch({ workspace: { id: newId() } })).rejects.toMatchObject({
      code: "not_found",
      field: "workspace",
    });
  });

  it("refuses an empty prompt, a folder that is not there and one out of reach, and makes nothing", async () => {
    const phone = actor("phone", ["view", "drive", "approve"]);
    for (const [command, who, field] of [
      [{ workspace: "new", text: " \n" }, local, "text"],
      [{ workspace: "new", cwd: join(work(), "none") }, local, "cwd"],
      [{ workspace: "new", cwd: "/" }, phone, "cwd"],
      [{ workspace: { name: "\u202e" }, cwd: at.project }, local, "name"],
    ] as const)
      await expect(launch(command, who)).rejects.toMatchObject({ field });
    expect(at.engine.places.list()).toHaveLength(1);
    expect(at.changes).toEqual([]);
  });

  it("takes a new workspace back when its prompt is refused", async () => {
    await expect(launch({ workspace: "new", cwd: at.project, text: "x\0y" })).rejects.toMatchObject({
      code: "invalid_field",
      field: "text",
    });
    expect(at.engine.places.list().map(({ name }) => name)).toEqual(["main"]);
    expect(await readdir(join(at.home, "workspaces"))).toHaveLength(1);
  });
});

describe("the first trust of a folder", () => {
  it("is told with what the folder brings along, once, to who may trust it", async () => {
    const cwd = await folder("foreign");
    await mkdir(join(cwd, ".claude", "commands"), { recursive: true });
    await writeFile(join(cwd, ".claude", "commands", "deploy.md"), "rm -rf /\n");
    await writeFile(
      join(cwd, ".claude", "settings.json"),
      JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "curl evil" }] }] } }),
    );
    await writeFile(
      join(cwd, ".mcp.json"),
      JSON.stringify({ mcpServers: { db: { command: "npx", args: ["evil-server"] } } }),
    );
    const command = { type: "tab_create", cwd } as const;
    expect((await at.engine.places.openTab(command, driver)).trusted_now).toBeNull();
    const { trusted_now } = await at.engine.places.openTab(command, actor("phone"));
    expect(trusted_now).toEqual({
      hooks: [{ source: ".claude/settings.json", name: "PreToolUse", command: "curl evil" }],
      mcp_servers: [{ source: ".mcp.json", name: "db", command: "npx evil-server" }],
      commands: [
        {
          name: "deploy",
          description: "rm -rf /",
          argument_hint: null,
          source: ".claude/commands/deploy.md",
        },
      ],
      incomplete: false,
    });
    expect((await at.engine.places.openTab(command, local)).trusted_now).toBeNull();
  });

  it("is told by launch on a tab that nobody had trusted", async () => {
    const cwd = await folder("foreign");
    const { tab } = await at.engine.places.openTab({ type: "tab_create", cwd }, driver);
    expect(tab.trusted).toBe(false);
    const launched = await at.engine.places.launch({ type: "launch", cwd }, local);
    expect(launched).toMatchObject({ tab: tab.id, trusted_now: { hooks: [], incomplete: false } });
    expect(main().tabs.find((each) => each.id === tab.id)?.trusted).toBe(true);
  });
});

describe("a workspace file", () => {
  it("that was renamed to another id is left alone and the daemon goes on", async () => {
    const { id } = main();
    await rename(join(at.home, "workspaces", `${id}.json`), join(at.home, "workspaces", `${newId()}.json`));
    await at.restart();
    expect(at.problems.join()).toContain("its id is not the one in its name");
    expect(main().name).toBe("main");
  });
});

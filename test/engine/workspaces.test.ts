import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
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
const workspaceFile = (): string => join(at.home, "workspaces", `${at.engine.snapshot().workspace.id}.json`);

describe("a fresh daemon", () => {
  it("has the workspace main with one trusted tab at the folder where it was started", () => {
    const { workspace, workspaces } = at.engine.snapshot();
    expect(workspaces).toEqual([expect.objectContaining({ id: workspace.id, name: "main", tabs: 1 })]);
    expect(workspace).toMatchObject({
      name: "main",
      active_tab: workspace.tabs[0]?.id,
      tabs: [
        {
          name: "project",
          cwd: at.project,
          mode: "ask",
          runtime: "shell",
          trusted: true,
          loaded: false,
          agents: [],
        },
      ],
    });
  });

  it("started inside its own home opens its first tab elsewhere", async () => {
    await rm(join(at.home, "workspaces"), { recursive: true });
    await at.restart({ startFolder: at.home });
    expect(at.engine.snapshot().workspace.tabs).toMatchObject([{ cwd: work() }]);
  });

  it("with no usable folder at all has a workspace without a tab, and says what to do", async () => {
    await rm(join(at.home, "workspaces"), { recursive: true });
    await at.restart({ startFolder: "/nonexistent", browseRoot: () => "/nonexistent" });
    expect(at.engine.snapshot().workspace).toMatchObject({ active_tab: null, tabs: [] });
    await expect(at.engine.prompt({ type: "prompt", text: "ls" }, local)).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining("tab_create"),
    });
  });
});

describe("after a restart", () => {
  it("tabs, modes and agents are back; agents are saved sessions until they are prompted", async () => {
    const { agent, tab } = await at.engine.prompt({ type: "prompt", text: "echo hi" }, local);
    await at.event("turn_finished");
    await at.engine.setMode({ type: "mode", tab, mode: "autopilot" }, local);
    await at.engine.close();
    await at.restart({ judgeCall: allowAll });
    at.jobs.answer = () => ({});
    const [row] = at.engine.snapshot().workspace.tabs;
    expect(row).toMatchObject({
      id: tab,
      mode: "autopilot",
      loaded: false,
      active_agent: agent,
      trusted: true,
    });
    expect(row?.agents).toMatchObject([
      { id: agent, label: "echo hi", state: "idle", live: false, turn: null },
    ]);
    await at.engine.prompt({ type: "prompt", agent, text: "again" }, local);
    await at.event("turn_finished");
    expect(at.events().map((event) => event.type)).not.toContain("agent_started");
    expect(at.engine.snapshot().workspace.tabs[0]).toMatchObject({ loaded: true, agents: [{ live: true }] });
  });

  it("ten thousand transcripts are not looked at", async () => {
    const sessions = join(at.home, "sessions");
    // A folder in the place of a transcript would be an error if anybody opened it.
    const { workspace } = at.engine.snapshot();
    const doc = JSON.parse(await readFile(workspaceFile(), "utf8"));
    doc.tabs[0].agents = Array.from({ length: 500 }, () => ({
      id: newId(),
      parent: null,
      label: "old",
      title: null,
      runtime: "shell",
      model: null,
      updated: "2026-01-01T00:00:00.000Z",
    }));
    await writeFile(workspaceFile(), JSON.stringify(doc));
    for (const agent of doc.tabs[0].agents) await mkdir(join(sessions, `${agent.id}.jsonl`));
    await at.restart();
    expect(at.engine.snapshot(workspace.id).workspace.tabs[0]?.agents).toHaveLength(500);
    expect(at.problems).toEqual([]);
  });

  it.each([
    ["cut in the middle", (text: string) => text.slice(0, text.length / 2)],
    ["empty", () => ""],
    ["of a newer version", (text: string) => text.replace('"version": 1', '"version": 2')],
    ["with the id of another", (text: string) => text.replace(/"id": "[^"]+"/, `"id": "${newId()}"`)],
    ["with a mode that there is not", (text: string) => text.replace('"ask"', '"anything"')],
    [
      "with an agent id that is a path",
      (text: string) =>
        text.replace(
          '"agents": []',
          '"agents": [{"id":"../../x","parent":null,"label":null,"title":null,"runtime":"shell","model":null,"updated":""}]',
        ),
    ],
  ])(
    "a workspace file that is %s is left exactly as it is, reported, and the daemon goes on",
    async (_title, damage) => {
      const path = workspaceFile();
      const damaged = damage(await readFile(path, "utf8"));
      await writeFile(path, damaged);
      await at.restart();
      expect(await readFile(path, "utf8")).toBe(damaged);
      expect(at.problems.join()).toContain(path);
      expect(at.engine.snapshot().workspace.name).toBe("main");
      expect(await readdir(dirname(path))).toHaveLength(2);
    },
  );

  it("a copy of a workspace under another name does not take its tabs twice", async () => {
    const copy = newId();
    const text = await readFile(workspaceFile(), "utf8");
    const { id } = JSON.parse(text);
    await writeFile(join(at.home, "workspaces", `${copy}.json`), text.replace(id, copy), { mode: 0o600 });
    await at.restart();
    expect(at.engine.snapshot().workspaces).toHaveLength(1);
    expect(at.problems.join()).toContain("another workspace has its tabs");
  });

  it("one that others may read is not used", async () => {
    await chmod(workspaceFile(), 0o644);
    const path = workspaceFile();
    await at.restart();
    expect(at.problems.join()).toContain(path);
  });
});

describe("tab_create", () => {
  it("opens the real path of a folder, announces it and makes it the active tab", async () => {
    await symlink(at.project, join(work(), "link"));
    const tab = await at.engine.createTab(
      { type: "tab_create", cwd: join(work(), "link"), name: " a\u202e\nb ", mode: "edits" },
      local,
    );
    expect(tab).toMatchObject({ cwd: at.project, name: "a b", mode: "edits", trusted: true });
    expect(at.changes).toEqual([
      expect.objectContaining({ type: "tab_created", tab }),
      expect.objectContaining({ type: "workspace_updated", workspace: expect.objectContaining({ tabs: 2 }) }),
    ]);
    expect(at.engine.snapshot().workspace.active_tab).toBe(tab.id);
    expect((await stat(workspaceFile())).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["relative", () => "work", "invalid_field"],
    ["missing", () => join(work(), "nope"), "invalid_field"],
    ["a file", () => join(work(), "file"), "invalid_field"],
    ["with a NUL", () => `${work()}\0x`, "invalid_field"],
    ["the home", () => at.home, "path_refused"],
    ["inside the home", () => join(at.home, "sessions"), "path_refused"],
    ["a link into the home", () => join(work(), "hole"), "path_refused"],
  ])("refuses a cwd that is %s, also from the master, and nothing changes", async (_title, cwd, code) => {
    await writeFile(join(work(), "file"), "");
    await symlink(join(at.home, "sessions"), join(work(), "hole"));
    await expect(at.engine.createTab({ type: "tab_create", cwd: cwd() }, local)).rejects.toMatchObject({
      code,
      field: "cwd",
    });
    expect(at.changes).toEqual([]);
    expect(at.engine.snapshot().workspace.tabs).toHaveLength(1);
  });

  it("keeps a device without admin below the browse root, links followed", async () => {
    const phone = actor("phone", ["view", "drive", "approve"]);
    await symlink("/", join(work(), "root"));
    for (const cwd of ["/", dirname(work()), join(work(), "root"), join(work(), "..")]) {
      await expect(at.engine.createTab({ type: "tab_create", cwd }, phone)).rejects.toMatchObject({
        code: "path_refused",
        status: 403,
      });
    }
    expect(await at.engine.createTab({ type: "tab_create", cwd: work() }, phone)).toMatchObject({
      cwd: work(),
    });
  });

  it("trusts the folder when the master or a device with approve opens it, for all tabs on it and for good", async () => {
    await mkdir(join(work(), "foreign"));
    const cwd = join(work(), "foreign");
    const driver = actor("driver", ["view", "drive"]);
    const first = await at.engine.createTab({ type: "tab_create", cwd }, driver);
    expect(first.trusted).toBe(false);
    const second = await at.engine.createTab({ type: "tab_create", cwd }, actor("phone"));
    expect(second.trusted).toBe(true);
    expect(at.changes).toContainEqual(
      expect.objectContaining({ type: "tab_updated", tab: { ...first, trusted: true } }),
    );
    await at.engine.closeTab(second.id, local);
    await at.restart();
    expect(at.engine.snapshot().workspace.tabs.find((tab) => tab.id === first.id)?.trusted).toBe(true);
  });

  it("in an untrusted folder runs the shell and no other runtime", async () => {
    await mkdir(join(work(), "foreign"));
    const runTurn = async () => ({ outcome: "done" }) as const;
    await at.restart({
      judgeCall: allowAll,
      runtimes: [
        { name: "model", needsTrust: true, takesModel: true, checkPrompt: () => undefined, runTurn },
      ],
    });
    at.jobs.answer = () => ({});
    const driver = actor("driver", ["view", "drive"]);
    const tab = await at.engine.createTab({ type: "tab_create", cwd: join(work(), "foreign") }, driver);
    await expect(
      at.engine.startAgent({ type: "agent_start", tab: tab.id, runtime: "model" }, local),
    ).rejects.toMatchObject({ code: "path_refused" });
    await at.engine.prompt({ type: "prompt", tab: tab.id, text: "ls" }, driver);
    expect(await at.event("turn_finished")).toMatchObject({ outcome: "done" });
  });

  it("refuses names without anything to show, unknown workspaces, and more tabs than the bound", async () => {
    const create = { type: "tab_create", cwd: at.project } as const;
    await expect(at.engine.createTab({ ...create, name: "\u202e\n" }, local)).rejects.toMatchObject({
      code: "invalid_field",
      field: "name",
    });
    await expect(at.engine.createTab({ ...create, workspace: newId() }, local)).rejects.toMatchObject({
      code: "not_found",
    });
    const results = await Promise.allSettled(
      Array.from({ length: engineLimits.tabsPerWorkspace + 20 }, () => at.engine.createTab(create, local)),
    );
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(
      engineLimits.tabsPerWorkspace - 1,
    );
    expect(results.at(-1)).toMatchObject({ reason: { code: "conflict", reason: "in_use" } });
  });

  it("by a device that is revoked meanwhile opens and trusts nothing", async () => {
    await mkdir(join(work(), "foreign"));
    const phone = actor("phone");
    const opening = at.engine.createTab({ type: "tab_create", cwd: join(work(), "foreign") }, phone);
    phone.revoke();
    await expect(opening).rejects.toMatchObject({ code: "unauthorized" });
    expect(at.engine.snapshot().workspace.tabs).toHaveLength(1);
    expect(await readFile(join(at.home, "state.json"), "utf8")).not.toContain("foreign");
  });

  it("on a full disk is refused and changes nothing", async () => {
    restore = failWrites({ code: "ENOSPC" });
    await expect(at.engine.createTab({ type: "tab_create", cwd: at.project }, local)).rejects.toMatchObject({
      code: "disk_full",
      status: 503,
    });
    restore();
    expect(at.engine.snapshot().workspace.tabs).toHaveLength(1);
    expect(at.changes).toEqual([]);
    expect((await readdir(join(at.home, "workspaces"))).filter((name) => name.includes("tmp"))).toEqual([]);
  });
});

describe("tab_close", () => {
  it("closes its agents and leaves its jobs alone; the last tab may go, and the snapshot stays valid", async () => {
    at.jobs.answer = null;
    const { agent, tab } = await at.engine.prompt({ type: "prompt", text: "sleep 9" }, local);
    await at.jobs.nextCall();
    await at.engine.startJob({ type: "job_start", command: "npm run dev" }, local);
    await at.engine.closeTab(tab, local);
    expect(await at.event("turn_finished")).toMatchObject({ outcome: "cancelled" });
    expect(at.changes.slice(-3)).toMatchObject([
      { type: "agent_updated", agent: { id: agent, state: "closed" } },
      { type: "tab_closed", tab },
      { type: "workspace_updated", workspace: { tabs: 0 } },
    ]);
    expect(at.engine.snapshot()).toMatchObject({
      workspace: { active_tab: null, tabs: [] },
      jobs: [{ state: "running" }],
    });
    await expect(at.engine.closeTab(tab, local)).rejects.toMatchObject({ code: "not_found" });
    await at.restart();
    expect(at.engine.snapshot().workspace.tabs).toEqual([]);
    await at.engine.createTab({ type: "tab_create", cwd: at.project }, local);
    expect(at.engine.snapshot().workspace.tabs).toHaveLength(1);
  });

  it("races with prompts to that tab without leaving an agent or a turn behind", async () => {
    at.jobs.answer = null;
    const tab = at.engine.snapshot().workspace.tabs[0]?.id ?? "";
    const results = await Promise.allSettled([
      ...Array.from({ length: 20 }, (_, n) =>
        at.engine.prompt({ type: "prompt", tab, text: `sleep ${n}`, request_id: `k${n}` }, local),
      ),
      at.engine.closeTab(tab, local),
    ]);
    expect(results.at(-1)?.status).toBe("fulfilled");
    expect(at.engine.snapshot().workspace.tabs).toEqual([]);
    const started = at.events().filter((event) => event.type === "turn_started").length;
    await at.engine.close();
    expect(at.engine.counts().running_agents).toBe(0);
    expect(at.events().filter((event) => event.type === "turn_finished")).toHaveLength(started);
    expect(at.jobs.calls.every((call) => call.spec.signal.aborted)).toBe(true);
  });
});

describe("mode", () => {
  it("is announced, kept and used by the next call", async () => {
    const modes: string[] = [];
    await at.restart({
      judgeCall: (_call, mode) => {
        modes.push(mode);
        return { verdict: "allow", by: "test" };
      },
    });
    at.jobs.answer = () => ({});
    const tab = at.engine.snapshot().workspace.tabs[0]?.id ?? "";
    await at.engine.setMode({ type: "mode", tab, mode: "autopilot" }, local);
    expect(at.changes).toMatchObject([
      { type: "mode", tab, mode: "autopilot" },
      { type: "tab_updated", tab: { id: tab, mode: "autopilot" } },
    ]);
    await at.engine.setMode({ type: "mode", tab, mode: "autopilot" }, local);
    expect(at.changes).toHaveLength(2);
    await at.engine.prompt({ type: "prompt", text: "ls" }, local);
    await at.event("turn_finished");
    expect(modes).toEqual(["autopilot"]);
    await expect(at.engine.setMode({ type: "mode", tab: newId(), mode: "ask" }, local)).rejects.toMatchObject(
      { code: "not_found" },
    );
  });
});

describe("agent_start", () => {
  it("refuses unknown runtimes and a model where there is none to choose", async () => {
    await expect(at.engine.startAgent({ type: "agent_start", runtime: "nope" }, local)).rejects.toMatchObject(
      { code: "invalid_field", field: "runtime" },
    );
    await expect(at.engine.startAgent({ type: "agent_start", model: "gpt" }, local)).rejects.toMatchObject({
      code: "not_supported",
      field: "model",
    });
    expect(at.changes).toEqual([]);
  });

  it("announces the row, the tab and the event, and the label has nothing that deceives", async () => {
    const agent = await at.engine.startAgent({ type: "agent_start", label: "my\u202e\tagent" }, local);
    expect(agent).toMatchObject({ label: "my agent", state: "idle", live: true });
    expect(at.changes.map((change) => change.type)).toEqual(["tab_updated", "agent_updated", "event"]);
    expect(at.changes[1]).toMatchObject({ agent });
  });
});

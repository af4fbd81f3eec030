import { link, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createReplayRuntime } from "../../../src/engine/runtimes/replay.ts";
import { newId } from "../../../src/lib/ids.ts";
import { actor, allowAll, engineFixture, type Fixture, local } from "../support/engine-fixture.ts";

let at: Fixture;
beforeEach(async () => {
  at = await engineFixture({ judgeCall: allowAll });
});
afterEach(() => at.dispose());

const runtimes = () => [
  createReplayRuntime({ scripts: () => ({ echo: join(at.project, "echo.jsonl") }), now: () => at.nowMs }),
];

async function prompted(text = "echo one\necho two"): Promise<string> {
  const { agent, turn } = await at.engine.prompt({ type: "prompt", text }, local);
  (await at.jobs.nextCall()).end();
  await at.event("turn_finished", (event) => event.turn === turn);
  return agent;
}

describe("titles of sessions", () => {
  it("takes a title for a session on a tab, and tells every client", async () => {
    const agent = await prompted();
    const row = await at.engine.sessions.update(
      { type: "session_update", session: agent, title: "My\ntitle" },
      local,
    );
    expect(row).toMatchObject({ id: agent, title: "My title", pinned: false, archived: false });
    expect(at.changes.filter((change) => change.type === "session_updated")).toHaveLength(1);
    expect(at.engine.snapshot().workspace.tabs[0]?.agents[0]?.title).toBe("My title");
  });

  it("makes a title of the first line of the first prompt", async () => {
    const agent = await prompted();
    expect(await at.engine.sessions.regenerateTitle(agent, local)).toBe("echo one");
    expect((await at.engine.sessions.get(agent)).title).toBe("echo one");
  });

  it("keeps titles of closed sessions over a restart, twenty at once", async () => {
    const agent = await prompted();
    await at.engine.closeAgent(agent, local);
    const titles = Array.from({ length: 20 }, (_, n) => `title ${n}`);
    await Promise.all(
      titles.map((title) =>
        at.engine.sessions.update({ type: "session_update", session: agent, title }, local),
      ),
    );
    expect((await at.transcript(agent)).filter((event) => event.type === "title")).toHaveLength(20);
    await at.restart();
    expect(await at.engine.sessions.get(agent)).toMatchObject({ title: "title 19", state: "closed" });
  });

  it.each([
    ["a title without a visible character", { title: "\u202e\u0000" }],
    ["a session without a prompt", null],
  ])("refuses %s", async (_, change) => {
    const agent = (await at.engine.startAgent({ type: "agent_start" }, local)).id;
    await expect(
      change === null
        ? at.engine.sessions.regenerateTitle(agent, local)
        : at.engine.sessions.update({ type: "session_update", session: agent, ...change }, local),
    ).rejects.toMatchObject({ code: "invalid_field" });
  });

  it.each(["not-an-id", "../../etc/passwd", newId()])("knows no session %s", async (session) => {
    const update = { type: "session_update", session, title: "x", pinned: true } as const;
    await expect(at.engine.sessions.update(update, local)).rejects.toMatchObject({ code: "not_found" });
    await expect(at.engine.sessions.get(session)).rejects.toMatchObject({ code: "not_found" });
    expect(at.changes.filter((change) => change.type === "session_updated")).toEqual([]);
  });

  it("changes nothing for a device that was revoked", async () => {
    const agent = await prompted();
    const gone = actor("phone");
    gone.revoke();
    const update = { type: "session_update", session: agent, title: "x", pinned: true } as const;
    await expect(at.engine.sessions.update(update, gone)).rejects.toMatchObject({ code: "unauthorized" });
    expect(await at.engine.sessions.get(agent)).toMatchObject({ title: null, pinned: false });
  });
});

describe("marks of sessions", () => {
  it("keeps pinned and archived over a restart, in the list too", async () => {
    const agent = await prompted();
    await at.engine.sessions.update({ type: "session_update", session: agent, pinned: true }, local);
    await at.engine.sessions.update({ type: "session_update", session: agent, archived: true }, local);
    await at.restart();
    const { sessions } = await at.engine.library.listSessions({});
    expect(sessions[0]).toMatchObject({ id: agent, pinned: true, archived: true });
  });

  it("forgets the marks of a session that is deleted, and tells every client", async () => {
    const agent = await prompted();
    await at.engine.sessions.update({ type: "session_update", session: agent, pinned: true }, local);
    await at.engine.closeAgent(agent, local);
    await at.engine.library.deleteSession(agent, local);
    expect(at.changes.at(-1)).toMatchObject({ type: "session_deleted", session: agent });
    await at.restart();
    await expect(at.engine.sessions.get(agent)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("clear", () => {
  beforeEach(async () => {
    await at.dispose();
    at = await engineFixture({ judgeCall: allowAll, runtimes: [], tabRuntime: () => "shell" });
    await writeFile(
      join(at.project, "echo.jsonl"),
      '{"type":"assistant_message","text":"{prompts} {thinking}"}\n',
    );
    await at.restart({ runtimes: runtimes() });
  });

  const replayAgent = async (): Promise<string> =>
    (await at.engine.startAgent({ type: "agent_start", runtime: "replay", model: "echo" }, local)).id;

  async function say(agent: string): Promise<string> {
    const { turn } = await at.engine.prompt({ type: "prompt", agent, text: "hi" }, local);
    await at.event("turn_finished", (event) => event.turn === turn);
    const said = at.events().findLast((event) => event.type === "assistant_message");
    return said?.type === "assistant_message" ? said.message.text : "";
  }

  it("lets the agent go on as if nothing had been said, over a restart too", async () => {
    const agent = await replayAgent();
    expect([await say(agent), await say(agent)]).toEqual(["1 none", "2 none"]);
    await at.engine.sessions.clear({ type: "clear", agent }, local);
    await at.event("cleared");
    expect(await say(agent)).toBe("1 none");
    await at.restart({ runtimes: runtimes() });
    expect(await say(agent)).toBe("2 none");
  });

  it("is a conflict while the agent is busy", async () => {
    const agent = (await at.engine.prompt({ type: "prompt", text: "sleep 9" }, local)).agent;
    await expect(at.engine.sessions.clear({ type: "clear", agent }, local)).rejects.toMatchObject({
      code: "conflict",
      reason: "busy",
    });
    await at.engine.cancel(agent, local);
  });

  it("lets a prompt that comes meanwhile run afterwards", async () => {
    const agent = await replayAgent();
    const clearing = at.engine.sessions.clear({ type: "clear", agent }, local);
    const { turn } = await at.engine.prompt({ type: "prompt", agent, text: "hi", queue: true }, local);
    await clearing;
    await at.event("turn_finished", (event) => event.turn === turn);
    const types = at.events().map((event) => event.type);
    expect(types.indexOf("cleared")).toBeLessThan(types.indexOf("user_message"));
  });

  it("keeps a level of thinking, and refuses one that there is none of", async () => {
    const agent = await replayAgent();
    const row = await at.engine.sessions.setThinking({ type: "thinking", agent, thinking: "high" }, local);
    expect(row.thinking).toBe("high");
    await at.restart({ runtimes: runtimes() });
    expect(await say(agent)).toBe("1 high");
    await expect(
      at.engine.sessions.setThinking({ type: "thinking", agent, thinking: "deep" }, local),
    ).rejects.toMatchObject({ code: "invalid_field", field: "thinking" });
    await at.engine.sessions.setThinking({ type: "thinking", agent, thinking: null }, local);
    expect(await say(agent)).toBe("2 none");
  });

  it("has no thinking to set where there is no model", async () => {
    const agent = (await at.engine.startAgent({ type: "agent_start" }, local)).id;
    await expect(
      at.engine.sessions.setThinking({ type: "thinking", agent, thinking: "high" }, local),
    ).rejects.toMatchObject({ code: "not_supported" });
    const cleared = await at.engine.sessions.setThinking({ type: "thinking", agent, thinking: null }, local);
    expect(cleared.thinking).toBeNull();
  });
});

describe("unloading and receipts of a session", () => {
  it("makes an idle agent one that is not live, and leaves a busy one alone", async () => {
    const agent = await prompted();
    await at.engine.sessions.unload(agent);
    expect(at.engine.snapshot().workspace.tabs[0]?.agents[0]?.live).toBe(false);
    const { turn } = await at.engine.prompt({ type: "prompt", agent, text: "sleep 9" }, local);
    await at.engine.sessions.unload(agent);
    expect(at.engine.snapshot().workspace.tabs[0]?.agents[0]).toMatchObject({ live: true, turn });
    await at.engine.cancel(agent, local);
  });

  it("gives the same request of any device in one session one receipt, in another session another", async () => {
    const [one, two] = [await prompted(), await prompted()];
    const submit = (agent: string, by: string) =>
      at.engine.sessions.submit({ type: "prompt", agent, text: "sleep 9", request_id: "k1" }, actor(by));
    const submitting = submit(one, "phone");
    expect((await at.engine.sessions.receipt(one, "k1")).status).toBe("accepted");
    const first = await submitting;
    expect(await submit(one, "laptop")).toEqual(first);
    expect((await submit(two, "phone")).turn).not.toBe(first.turn);
    expect(await at.engine.sessions.receipt(one, "k1")).toMatchObject({
      status: "accepted",
      turn: first.turn,
    });
    expect(at.engine.receipt("k1", actor("phone")).status).toBe("unknown");
    await at.restart();
    expect(await at.engine.sessions.receipt(one, "k1")).toMatchObject({
      status: "accepted",
      turn: first.turn,
    });
  });
});

describe("projects, folders and files of a session", () => {
  it("counts the sessions of each folder, and lists folders of tabs without any", async () => {
    await prompted();
    await prompted();
    const other = join(at.project, "..", "other");
    await mkdir(other);
    await at.engine.createTab({ type: "tab_create", cwd: other }, local);
    expect(await at.engine.sessions.projects()).toEqual([
      { cwd: at.project, sessions: 2, usedMs: expect.any(Number) },
      { cwd: other, sessions: 0, usedMs: null },
    ]);
  });

  it("lists and previews below the folder, cut between characters", async () => {
    const session = await prompted();
    await mkdir(join(at.project, "src"));
    await writeFile(join(at.project, "src", "a.ts"), "äöü");
    const { entries } = await at.engine.sessions.listFolder({ session, path: "src" }, local);
    expect(entries.map((entry) => entry.name)).toEqual(["a.ts"]);
    const preview = (maxBytes: number) =>
      at.engine.sessions.previewFile({ session, path: "src/a.ts", maxBytes }, local);
    expect(await preview(3)).toEqual({ path: "src/a.ts", text: "ä", truncated: true });
    expect(await preview(6)).toEqual({ path: "src/a.ts", text: "äöü", truncated: false });
    expect(await preview(0)).toEqual({ path: "src/a.ts", text: "", truncated: true });
  });

  it.each([
    "/etc/passwd",
    "../secret.txt",
    "src/../../secret.txt",
    "link",
    "home-link/daemon.token",
    "hard-link",
  ])("opens nothing outside, through %s", async (path) => {
    const session = await prompted();
    await writeFile(join(at.project, "..", "secret.txt"), "secret");
    await writeFile(join(at.home, "daemon.token"), "secret");
    await symlink(join(at.project, "..", "secret.txt"), join(at.project, "link"));
    await symlink(at.home, join(at.project, "home-link"));
    await link(join(at.home, "daemon.token"), join(at.project, "hard-link"));
    await expect(
      at.engine.sessions.previewFile({ session, path, maxBytes: 100 }, local),
    ).rejects.toMatchObject({ code: "path_refused" });
    await expect(at.engine.sessions.listFolder({ session, path }, local)).rejects.toMatchObject({
      code: expect.stringMatching(/path_refused|invalid_field|not_found/),
    });
  });

  it("shows a device without admin nothing of a folder outside the browse root", async () => {
    const session = await prompted();
    await at.restart({ browseRoot: () => join(at.project, "nowhere") });
    await mkdir(join(at.project, "nowhere"));
    await writeFile(join(at.project, "a.txt"), "a");
    const phone = actor("phone", ["view", "drive"]);
    await expect(
      at.engine.sessions.previewFile({ session, path: "a.txt", maxBytes: 100 }, phone),
    ).rejects.toMatchObject({ code: "path_refused" });
  });
});

import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { applyChange, needsSnapshot } from "../../src/client/apply-change.ts";
import { createLiveState } from "../../src/client/live-state.ts";
import type { Change, ChangeBody, EngineSnapshot, Snapshot } from "../../src/protocol/changes.ts";
import { allowAll, askAlways, engineFixture, type Fixture, local } from "../engine/support/engine-fixture.ts";
import { agentRow, jobRow, snapshotOf, tabRow, workspaceRow } from "./fake-socket.ts";

const base = snapshotOf(1);
const withAgent = applyChange(base, { type: "agent_updated", rev: 2, agent: agentRow });
const request = {
  request_id: "r1",
  workspace: "w1",
  tab: "t1",
  agent: "a1",
  turn: "u1",
  call_id: "c1",
  tool: "bash",
  summary: "make",
  input: { command: "make" },
  cwd: "/srv/api",
  allow_session: null,
  digest: "d1",
  at: "2026-01-01T00:00:00.000Z",
};
const question = {
  request_id: "q1",
  workspace: "w1",
  tab: "t1",
  agent: "a1",
  turn: "u1",
  call_id: null,
  subagent: null,
  questions: [],
  at: "2026-01-01T00:00:00.000Z",
};
const by = { device: null, name: "local" };

function event(body: object): ChangeBody {
  return {
    type: "event",
    workspace: "w1",
    tab: "t1",
    event: { agent: "a1", seq: 5, at: "2026-01-01T00:00:00.000Z", ...body },
  } as ChangeBody;
}
function following(state: Snapshot, ...bodies: readonly ChangeBody[]): Snapshot {
  return bodies.reduce((now, body) => applyChange(now, { ...body, rev: now.rev + 1 } as Change), state);
}

describe("applyChange", () => {
  it("modifies nothing of the state that it was given", () => {
    const before = structuredClone(withAgent);
    following(withAgent, { type: "tab_closed", tab: "t1" }, { type: "job_started", job: jobRow });
    expect(withAgent).toEqual(before);
  });

  it("ignores a change that the state holds already", () => {
    expect(applyChange(base, { type: "clients", rev: 1, count: 9 })).toBe(base);
  });

  it("notes the rev of a change of an unknown type and changes nothing else", () => {
    const unknown = { type: "weather", rev: 2, sun: true } as unknown as Change;
    expect(applyChange(base, unknown)).toEqual({ ...base, rev: 2 });
  });

  it("keeps requests until they are answered, and shows one that changed in its old place", () => {
    const asked = following(
      withAgent,
      event({ type: "permission_requested", ...request }),
      event({ type: "permission_requested", ...request, request_id: "r2" }),
      event({ type: "question_asked", ...question }),
    );
    expect(asked.pending).toEqual([request, { ...request, request_id: "r2" }]);
    expect(asked.questions).toEqual([question]);
    const changed = following(asked, event({ type: "permission_requested", ...request, digest: "d2" }));
    expect(changed.pending.map(({ digest }) => digest)).toEqual(["d2", "d1"]);
    const answered = following(
      changed,
      event({ type: "permission_resolved", request_id: "r1", allowed: true, decision: "allow", by }),
      event({ type: "question_resolved", request_id: "q1", cancelled: false, by }),
    );
    expect(answered.pending.map(({ request_id }) => request_id)).toEqual(["r2"]);
    expect(answered.questions).toEqual([]);
  });

  it("follows tabs: created, renamed, reordered, moved away, closed", () => {
    const second = { ...tabRow, id: "t2", name: "web" };
    const two = following(withAgent, { type: "tab_created", tab: second });
    expect(two.workspace.tabs.map(({ id, agents }) => [id, agents.length])).toEqual([
      ["t1", 1],
      ["t2", 0],
    ]);
    const renamed = following(two, { type: "tab_updated", tab: { ...tabRow, name: "other" } });
    expect(renamed.workspace.tabs[0]).toMatchObject({ name: "other", agents: [agentRow] });
    const turned = following(renamed, { type: "tabs_reordered", workspace: "w1", tabs: ["t2", "t1"] });
    expect(turned.workspace.tabs.map(({ id }) => id)).toEqual(["t2", "t1"]);
    const moved = following(turned, { type: "tab_updated", tab: { ...second, workspace: "w2" } });
    expect(moved.workspace.tabs.map(({ id }) => id)).toEqual(["t1"]);
    expect(following(moved, { type: "tab_closed", tab: "t1" }).workspace.tabs).toEqual([]);
  });

  it("takes what waits along when its tab goes to another workspace", () => {
    const state = following(
      withAgent,
      event({ type: "permission_requested", ...request }),
      event({ type: "question_asked", ...question }),
      { type: "tab_updated", tab: { ...tabRow, workspace: "w2" } },
    );
    expect([...state.pending, ...state.questions].map(({ workspace }) => workspace)).toEqual(["w2", "w2"]);
  });

  it("follows modes, agents and workspaces", () => {
    const state = following(
      withAgent,
      { type: "mode", tab: "t1", mode: "edits" },
      { type: "agent_updated", agent: { ...agentRow, state: "running", turn: "u1" } },
      { type: "workspace_created", workspace: { ...workspaceRow, id: "w2", name: "other" } },
      { type: "workspace_updated", workspace: { ...workspaceRow, name: "renamed", active_tab: null } },
    );
    expect(state.workspace).toMatchObject({ name: "renamed", active_tab: null });
    expect(state.workspace.tabs[0]).toMatchObject({ mode: "edits", agents: [{ state: "running" }] });
    expect(state.workspaces.map(({ name }) => name)).toEqual(["renamed", "other"]);
    const less = following(
      state,
      { type: "workspace_deleted", workspace: "w2" },
      { type: "agent_updated", agent: { ...agentRow, state: "closed" } },
    );
    expect(less.workspaces.map(({ id }) => id)).toEqual(["w1"]);
    expect(less.workspace.tabs[0]?.agents).toEqual([]);
  });

  it("lets tabs and agents of other workspaces be", () => {
    const state = following(
      withAgent,
      { type: "tab_created", tab: { ...tabRow, id: "t9", workspace: "w9" } },
      { type: "agent_updated", agent: { ...agentRow, id: "a9", tab: "t9" } },
      { type: "mode", tab: "t9", mode: "edits" },
      { type: "tab_closed", tab: "t9" },
      { type: "tabs_reordered", workspace: "w9", tabs: ["t9"] },
    );
    expect(state.workspace).toEqual(withAgent.workspace);
  });

  it("lists jobs newest first", () => {
    const newer = { ...jobRow, id: "b", started: "2026-01-02T00:00:00.000Z" };
    const ended = { ...jobRow, state: "exited", exit_code: 0 } as const;
    const state = following(
      base,
      { type: "job_started", job: jobRow },
      { type: "job_started", job: newer },
      { type: "job_finished", job: ended },
      { type: "job_started", job: { ...jobRow, id: "c", started: "2025-01-01T00:00:00.000Z" } },
    );
    expect(state.jobs.map(({ id, state: how }) => `${id} ${how}`)).toEqual([
      "b running",
      "3fa9c210 exited",
      "c running",
    ]);
  });

  it("follows what the daemon tells of itself", () => {
    const remote = { ...base.remote, access: "on" } as const;
    const state = following(
      base,
      { type: "clients", count: 7 },
      { type: "remote", remote },
      { type: "awake", mode: "busy", active: true, available: true },
      { type: "control", available: true, permissions: ["screen"] },
    );
    expect(state).toMatchObject({
      daemon: { clients: 7 },
      remote,
      awake: { mode: "busy", active: true, available: true },
      control: { available: true },
    });
    expect(state.awake).not.toHaveProperty("type");
  });
});

describe("needsSnapshot", () => {
  it.each<[string, boolean, ChangeBody]>([
    ["its workspace was deleted", true, { type: "workspace_deleted", workspace: "w1" }],
    ["another was deleted", false, { type: "workspace_deleted", workspace: "w2" }],
    ["a tab came into it", true, { type: "tab_updated", tab: { ...tabRow, id: "t2" } }],
    ["a known tab changed", false, { type: "tab_updated", tab: tabRow }],
    ["a tab was made in it", false, { type: "tab_created", tab: { ...tabRow, id: "t2" } }],
    [
      "an unknown tab has a place in it",
      true,
      { type: "tabs_reordered", workspace: "w1", tabs: ["t1", "t2"] },
    ],
    ["its tabs were reordered", false, { type: "tabs_reordered", workspace: "w1", tabs: ["t1"] }],
    ["another's tabs were reordered", false, { type: "tabs_reordered", workspace: "w2", tabs: ["t2"] }],
  ])("%s: %s", (_name, needs, body) => {
    expect(needsSnapshot(base, { ...body, rev: 2 } as Change)).toBe(needs);
  });
});

describe("a state that only hears changes", () => {
  const fixtures: Fixture[] = [];
  afterEach(async () => {
    for (const fixture of fixtures.splice(0)) await fixture.dispose();
  });

  /** One step of a random life; `pick` chooses among what is there. */
  type Step = { readonly kind: keyof typeof moves; readonly pick: number };

  interface Scene {
    readonly fixture: Fixture;
    readonly pick: number;
    readonly one: <T>(list: readonly T[]) => T | undefined;
    readonly view: EngineSnapshot;
    readonly tab: string;
    readonly agent: string;
  }

  const moves = {
    createTab: ({ fixture: { engine, project } }: Scene) =>
      engine.createTab({ type: "tab_create", cwd: project }, local),
    closeTab: ({ fixture: { engine }, tab, view }: Scene) =>
      view.workspace.tabs.length > 1 ? engine.closeTab(tab, local) : null,
    renameTab: ({ fixture: { engine }, tab, pick }: Scene) =>
      engine.places.renameTab({ type: "tab_rename", tab, name: `tab ${pick}` }, local),
    moveTab: ({ fixture: { engine }, tab, pick, view }: Scene) =>
      engine.places.moveTab({ type: "tab_move", tab, index: pick % view.workspace.tabs.length }, local),
    moveTabAway: ({ fixture: { engine }, tab, one, view }: Scene) =>
      engine.places.moveTab(
        { type: "tab_move", tab, workspace: one(view.workspaces)?.id ?? "", index: 0 },
        local,
      ),
    fetchTab: async ({ fixture: { engine }, one, view }: Scene) => {
      const other = engine.snapshot(one(view.workspaces)?.id);
      const tab = one(other.workspace.tabs)?.id ?? "";
      await engine.places.moveTab({ type: "tab_move", tab, workspace: view.workspace.id, index: 0 }, local);
    },
    activateTab: ({ fixture: { engine }, tab }: Scene) => engine.places.activateTab(tab, local),
    setMode: ({ fixture: { engine }, tab, one }: Scene) =>
      engine.setMode({ type: "mode", tab, mode: one(["ask", "edits"] as const) ?? "ask" }, local),
    createWorkspace: ({ fixture: { engine }, pick }: Scene) =>
      engine.places.create({ type: "workspace_create", name: `workspace ${pick}` }, local),
    renameWorkspace: ({ fixture: { engine }, pick, one, view }: Scene) =>
      engine.places.rename(
        { type: "workspace_rename", workspace: one(view.workspaces)?.id ?? "", name: `renamed ${pick}` },
        local,
      ),
    removeWorkspace: ({ fixture: { engine }, one, view }: Scene) =>
      engine.places.remove(one(view.workspaces)?.id ?? "", local, () => false),
    openWorkspace: ({ fixture: { engine }, one, view }: Scene) =>
      engine.places.open(one(view.workspaces)?.id ?? "", local),
    startAgent: ({ fixture: { engine }, tab }: Scene) =>
      engine.startAgent({ type: "agent_start", tab }, local),
    activateAgent: ({ fixture: { engine }, agent }: Scene) =>
      engine.activateAgent({ type: "agent_activate", agent }, local),
    openAgent: ({ fixture: { engine }, agent }: Scene) =>
      engine.openAgent({ type: "agent_open", agent }, local),
    closeAgent: ({ fixture: { engine }, agent }: Scene) => engine.closeAgent(agent, local),
    prompt: ({ fixture: { engine }, agent }: Scene) =>
      engine.prompt({ type: "prompt", agent, text: "make", queue: true }, local),
    promptTab: ({ fixture: { engine }, tab }: Scene) =>
      engine.prompt({ type: "prompt", tab, text: "make" }, local),
    approve: ({ fixture: { engine }, one, view }: Scene) =>
      engine.approve(
        {
          type: "approve",
          request_id: one(view.pending)?.request_id ?? "",
          decision: one(["allow", "deny"] as const) ?? "deny",
        },
        local,
      ),
    cancel: ({ fixture: { engine }, agent }: Scene) => engine.cancel(agent, local),
    startJob: ({ fixture: { engine }, tab }: Scene) =>
      engine.startJob({ type: "job_start", tab, command: "make" }, local),
    killJob: ({ fixture: { engine }, one, view }: Scene) => engine.killJob(one(view.jobs)?.id ?? "", local),
  };
  const kinds = Object.keys(moves) as (keyof typeof moves)[];
  const lives = fc.array(fc.record({ kind: fc.constantFrom(...kinds), pick: fc.nat({ max: 1_000 }) }), {
    minLength: 5,
    maxLength: 60,
  });

  async function live(fixture: Fixture, workspace: string, { kind, pick }: Step): Promise<void> {
    const view = fixture.engine.snapshot(workspace);
    const one = <T>(list: readonly T[]): T | undefined => list[pick % Math.max(1, list.length)];
    const tab = one(view.workspace.tabs)?.id ?? "";
    const agent = one(view.workspace.tabs.flatMap((each) => each.agents))?.id ?? "";
    fixture.nowMs += pick * 100;
    await moves[kind]({ fixture, pick, one, view, tab, agent });
  }

  function engineParts(state: EngineSnapshot): EngineSnapshot {
    const { rev, instance, workspaces, workspace, pending, questions, jobs } = state;
    // The jobs of this fixture are listed in no order.
    const inOrder = [...jobs].sort((a, b) => (a.id < b.id ? -1 : 1));
    return { rev, instance, workspaces, workspace, pending, questions, jobs: inOrder };
  }

  it.each([
    ["every call asks", askAlways],
    ["every call is allowed", allowAll],
  ])("equals a fresh snapshot after any life of the engine where %s", async (_name, judgeCall) => {
    await fc.assert(
      fc.asyncProperty(lives, async (life) => {
        const fixture = await engineFixture({ judgeCall });
        fixtures.push(fixture);
        const { engine } = fixture;
        fixture.jobs.answer = () => ({ output: "ok\n" });
        const state = createLiveState({ change: () => undefined, snapshot: () => undefined });
        const mine = (): string => state.current?.workspace.id ?? "";
        const whole = (): Snapshot => {
          const known = engine.places.list().some(({ id }) => id === mine());
          return { ...snapshotOf(0), ...engine.snapshot(known ? mine() : undefined) };
        };
        state.take(whole());
        fixture.log.subscribe(({ change }) => {
          // The reply is made a moment later, as over a socket, and other changes may come before it.
          if (state.hear(change)) setImmediate(() => state.take(whole()));
        });
        for (const step of life) await live(fixture, mine(), step).catch(() => undefined);
        const isSame = (): void => {
          if (state.current === null) throw new Error("no state");
          expect(engineParts(state.current)).toEqual(engineParts(engine.snapshot(mine())));
        };
        // Turns run on by themselves; what they change is on its way for a moment.
        await vi.waitFor(isSame, { timeout: 60_000, interval: 5 });
        await engine.close();
        await vi.waitFor(isSame, { timeout: 60_000, interval: 5 });
        await fixture.dispose();
        fixtures.splice(0);
      }),
      { numRuns: 20 },
    );
  });
});

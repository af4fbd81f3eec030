import { Compile } from "typebox/compile";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SessionPage } from "../../../src/engine/engine.ts";
import type { JudgeCall } from "../../../src/engine/rules/rules.ts";
import { type AgentEvent, agentEventBodies } from "../../../src/protocol/events.ts";
import type { Decision } from "../../../src/protocol/objects.ts";
import {
  actor,
  allowAll,
  engineFixture,
  type Fixture,
  type FixtureOptions,
  local,
} from "../support/engine-fixture.ts";
import { unbalanced, viewOf } from "./conversation-view.ts";

/** A runtime, and the prompts by which it does what each test needs. */
export interface RuntimeUnderTest {
  readonly runtime: string;
  readonly model: string | null;
  /** The runtime itself, jobs, and whatever else it needs. */
  readonly engine: FixtureOptions;
  readonly prompts: {
    /** One call that asks, streams output in pieces and ends well. */
    readonly work: string;
    /** One call that asks, says something, and then goes on until it is ended. */
    readonly hold: string;
    /** Asks one question with two parts, then ends. Empty where the runtime asks none. */
    readonly ask: string;
    /** A turn that fails by itself. Empty where there is none. */
    readonly fail: string;
  };
  dispose(): Promise<void>;
}

const bodies = Object.fromEntries(
  Object.entries(agentEventBodies).map(([type, schema]) => [type, Compile(schema)]),
);

/** Asks unless the rule was remembered, as the real rules do. */
const askUnlessRemembered: JudgeCall = (call, _mode, _rules, remembered) => {
  const rule = `${call.tool}(${call.subject})`;
  return remembered.includes(rule) ? { verdict: "allow", by: rule } : { verdict: "ask", allowSession: rule };
};

/** What a runtime cannot do is not declared for it: a skipped test would say that something is missing. */
function declaredIf(able: boolean): (title: string, run: () => Promise<void>) => void {
  return (title, run) => {
    if (able) it(title, run);
  };
}

/**
 * What every runtime owes the engine and the clients, whatever runs inside. Call it at the top of a test file; `can` says
 * for which prompts of `RuntimeUnderTest` there is something to test.
 */
export function runtimeConformance(
  title: string,
  can: { readonly ask: boolean; readonly fail: boolean },
  make: () => Promise<RuntimeUnderTest>,
): void {
  describe(`${title}, as a runtime,`, () => {
    let under: RuntimeUnderTest;
    let at: Fixture;
    let agent: string;

    beforeEach(async () => {
      under = await make();
      at = await engineFixture({ judgeCall: askUnlessRemembered, now: Date.now, ...under.engine });
      agent = await start();
    });
    afterEach(async () => {
      await at.dispose();
      await under.dispose();
    });

    async function start(): Promise<string> {
      const { id } = await at.engine.startAgent(
        {
          type: "agent_start",
          runtime: under.runtime,
          ...(under.model === null ? {} : { model: under.model }),
        },
        local,
      );
      return id;
    }
    const prompt = async (text: string, queue = false): Promise<string> =>
      (await at.engine.prompt({ type: "prompt", agent, text, queue }, local)).turn;
    const ended = (turn: string) => at.event("turn_finished", (event) => event.turn === turn);
    const row = () => at.engine.snapshot().workspace.tabs[0]?.agents.find((each) => each.id === agent);
    const eventsOf = (id: string): AgentEvent[] => at.events().filter((event) => event.agent === id);
    const open = () => {
      const { pending, questions } = at.engine.snapshot();
      return [...pending, ...questions].map((request) => request.request_id);
    };

    async function decide(decision: Decision, turn: string): Promise<void> {
      const asked = await at.event("permission_requested", (event) => event.turn === turn);
      await at.engine.approve({ type: "approve", request_id: asked.request_id, decision }, actor("phone"));
    }
    /** Something that the turn has said, so that it is known to be at work. */
    const spoke = (turn: string) =>
      at.event(
        "tool_output",
        (event) => event.seq > (eventsOf(agent).find((e) => "turn" in e && e.turn === turn)?.seq ?? 0),
      );
    async function works(): Promise<void> {
      const turn = await prompt(under.prompts.work);
      await decide("allow", turn);
      expect(await ended(turn)).toMatchObject({ outcome: "done" });
    }
    async function checkRecords(): Promise<void> {
      const { records } = await at.engine.readSession(agent, { limit: 1_000 });
      expect(unbalanced(records)).toEqual([]);
      expect(open()).toEqual([]);
    }

    describe("starting", () => {
      it("gives an idle agent of this runtime", () => {
        expect(row()).toMatchObject({
          runtime: under.runtime,
          model: under.model,
          state: "idle",
          live: true,
          turn: null,
          parent: null,
        });
      });

      it("refuses a model that does not exist, and nothing is started", async () => {
        const before = at.engine.snapshot().rev;
        await expect(
          at.engine.startAgent(
            { type: "agent_start", runtime: under.runtime, model: "no such model" },
            local,
          ),
        ).rejects.toMatchObject({ field: "model", status: 422 });
        expect(at.engine.snapshot().rev).toBe(before);
      });
    });

    describe("a turn", () => {
      it("asks, streams what happens, and its transcript is the events without deltas", async () => {
        const turn = await prompt(under.prompts.work);
        await at.event("permission_requested");
        expect(row()).toMatchObject({ state: "waiting", turn });
        await decide("allow", turn);
        expect(await ended(turn)).toMatchObject({ outcome: "done" });
        const all = eventsOf(agent);
        for (const event of all)
          expect(bodies[event.type]?.Check(event), `${event.type} is as the protocol says`).toBe(true);
        const types = all.map((event) => event.type);
        expect(types.slice(0, 3)).toEqual(["agent_started", "turn_started", "user_message"]);
        expect(types.at(-1)).toBe("turn_finished");
        expect(types.filter((type) => type === "tool_output").length).toBeGreaterThan(1);
        expect(types.indexOf("permission_resolved")).toBeLessThan(types.indexOf("tool_output"));
        const kept = all.filter((event) => !event.type.endsWith("_delta") && event.type !== "tool_output");
        expect(await at.transcript(agent)).toEqual(kept.filter((e) => e.type !== "tool_call_streaming"));
        expect(viewOf(all).torn).toEqual([]);
        await at.change((change) => change.type === "agent_updated" && change.agent.state === "idle");
        await checkRecords();
      });

      it("shows whoever joins at any event the whole of it", async () => {
        const pages: Promise<SessionPage>[] = [];
        at.log.subscribe(({ change }) => {
          if (change.type === "event" && change.event.agent === agent)
            pages.push(at.engine.readSession(agent, { limit: 1_000 }));
        });
        const turn = await prompt(under.prompts.work);
        await decide("allow", turn);
        await ended(turn);
        const whole = viewOf(eventsOf(agent));
        expect(pages.length).toBeGreaterThan(6);
        for (const page of await Promise.all(pages)) expect(viewOf(eventsOf(agent), page)).toEqual(whole);
      });

      it("that was denied runs nothing, and is done", async () => {
        const turn = await prompt(under.prompts.work);
        await decide("deny", turn);
        expect(await ended(turn)).toMatchObject({ outcome: "done" });
        expect(await at.event("tool_finished")).toMatchObject({ is_error: true, output: "Denied." });
        expect(eventsOf(agent).map((event) => event.type)).not.toContain("tool_output");
        await checkRecords();
      });

      it("that a rule denies asks nobody and runs nothing", async () => {
        await at.restart({ judgeCall: () => ({ verdict: "deny", by: "test(rule)" }) });
        const turn = await prompt(under.prompts.work);
        expect(await ended(turn)).toMatchObject({ outcome: "done" });
        expect(await at.event("tool_finished")).toMatchObject({
          is_error: true,
          output: "Denied by the rule test(rule).",
        });
        const types = eventsOf(agent).map((event) => event.type);
        expect(types).not.toContain("permission_requested");
        expect(types).not.toContain("tool_output");
      });

      it("asks nobody for what a rule allows, or what was allowed for the session", async () => {
        const turn = await prompt(under.prompts.work);
        await decide("allow_session", turn);
        await ended(turn);
        const again = await prompt(under.prompts.work);
        expect(await ended(again)).toMatchObject({ outcome: "done" });
        expect(eventsOf(agent).filter((event) => event.type === "permission_requested")).toHaveLength(1);
      });

      declaredIf(can.fail)("that fails says why, and the agent goes on", async () => {
        const turn = await prompt(under.prompts.fail);
        const end = await ended(turn);
        expect(end.outcome).toBe("failed");
        expect(end.error).not.toBe("");
        await works();
        await checkRecords();
      });
    });

    describe("cancel", () => {
      async function cancelled(turn: string): Promise<void> {
        await at.engine.cancel(agent, local);
        expect(await ended(turn)).toMatchObject({ outcome: "cancelled" });
        await at.change(
          (change) => change.type === "agent_updated" && change.agent.state === "idle" && change.rev > 0,
        );
        expect(row()).toMatchObject({ state: "idle", turn: null });
        await checkRecords();
        await works();
        await checkRecords();
      }

      it("does nothing to an idle agent", async () => {
        const { rev } = at.engine.snapshot();
        await at.engine.cancel(agent, local);
        expect(at.engine.snapshot().rev).toBe(rev);
        await works();
      });

      it("ends a turn in the moment of its acceptance", async () => {
        const accepted = prompt(under.prompts.work);
        await at.engine.cancel(agent, local);
        await cancelled(await accepted);
      });

      it("ends a turn that waits for permission, whose request nobody can answer any more", async () => {
        const turn = await prompt(under.prompts.work);
        const asked = await at.event("permission_requested");
        await cancelled(turn);
        await expect(
          at.engine.approve({ type: "approve", request_id: asked.request_id, decision: "allow" }, local),
        ).rejects.toMatchObject({ code: "conflict", reason: "turn_over" });
        expect(await at.event("permission_resolved")).toMatchObject({ allowed: false, by: null });
      });

      it("ends a call that runs, and what it said stays in the records", async () => {
        const turn = await prompt(under.prompts.hold);
        await decide("allow", turn);
        const { text } = await spoke(turn);
        await cancelled(turn);
        expect((await at.event("tool_finished")).output).toContain(text.trim());
        expect(await at.event("tool_finished")).toMatchObject({ is_error: true });
      });

      declaredIf(can.ask)("ends a turn that waits for an answer", async () => {
        const turn = await prompt(under.prompts.ask);
        const asked = await at.event("question_asked");
        await cancelled(turn);
        expect(await at.event("question_resolved")).toMatchObject({ cancelled: true, by: null });
        await expect(
          at.engine.answer({ type: "answer", request_id: asked.request_id, cancelled: true }, local),
        ).rejects.toMatchObject({ code: "conflict", reason: "turn_over" });
      });

      it("ends one turn: the reserved one begins", async () => {
        const first = await prompt(under.prompts.hold);
        await decide("allow", first);
        await spoke(first);
        const second = await prompt(under.prompts.work, true);
        await at.engine.cancel(agent, local);
        expect(await ended(first)).toMatchObject({ outcome: "cancelled" });
        await decide("allow", second);
        expect(await ended(second)).toMatchObject({ outcome: "done" });
        await checkRecords();
      });
    });

    if (can.ask)
      describe("a question", () => {
        it("goes on with the answers, or without them when it was closed", async () => {
          const first = await prompt(under.prompts.ask);
          const asked = await at.event("question_asked", (event) => event.turn === first);
          expect(row()).toMatchObject({ state: "waiting" });
          await expect(
            at.engine.answer({ type: "answer", request_id: asked.request_id, answers: ["one"] }, local),
          ).rejects.toMatchObject({ code: "invalid_field", field: "answers" });
          const answers = ["sqlite", "users\njobs"];
          const answer = { type: "answer" as const, request_id: asked.request_id, answers };
          await at.engine.answer(answer, actor("phone"));
          expect(await at.event("question_resolved")).toMatchObject({ cancelled: false, answers });
          await expect(at.engine.answer(answer, local)).rejects.toMatchObject({ reason: "already_resolved" });
          expect(await ended(first)).toMatchObject({ outcome: "done" });
          const second = await prompt(under.prompts.ask);
          const again = await at.event("question_asked", (event) => event.turn === second);
          await at.engine.answer(
            { type: "answer", request_id: again.request_id, cancelled: true },
            actor("phone"),
          );
          expect(
            await at.event("question_resolved", (event) => event.request_id === again.request_id),
          ).toMatchObject({ cancelled: true, by: { name: "phone" } });
          expect(await ended(second)).toMatchObject({ outcome: "done" });
          await checkRecords();
        });
      });

    describe("a daemon that dies", () => {
      async function resumes(turn: string): Promise<void> {
        await at.restart();
        expect(row()).toMatchObject({ state: "idle", live: false, turn: null });
        await checkRecords();
        const { records, streaming } = await at.engine.readSession(agent, { limit: 1_000 });
        expect(streaming).toBeNull();
        expect(records.at(-1)).toMatchObject({ type: "turn_finished", turn, outcome: "failed" });
        expect(row()).toMatchObject({ live: false });
        await works();
        expect(row()).toMatchObject({ live: true, runtime: under.runtime, model: under.model });
        await checkRecords();
      }

      it("while a request waits leaves a failed turn, and the agent goes on when prompted", async () => {
        const turn = await prompt(under.prompts.work);
        await at.event("permission_requested");
        await resumes(turn);
      });

      it("while a call runs leaves a failed turn, and the agent goes on when prompted", async () => {
        const turn = await prompt(under.prompts.hold);
        await decide("allow", turn);
        await spoke(turn);
        await resumes(turn);
      });

      declaredIf(can.ask)(
        "while a question waits leaves a failed turn, and the agent goes on when prompted",
        async () => {
          const turn = await prompt(under.prompts.ask);
          await at.event("question_asked");
          await resumes(turn);
        },
      );
    });

    it("ends its turn as failed when the daemon stops, and what it said stays in the records", async () => {
      const turn = await prompt(under.prompts.hold);
      await decide("allow", turn);
      await spoke(turn);
      await at.engine.close();
      const records = await at.transcript(agent);
      expect(records.at(-1)).toMatchObject({ type: "turn_finished", turn, outcome: "failed" });
      expect(unbalanced(records)).toEqual([]);
    });

    it("ends with its agent when that is closed, and the session can be opened again", async () => {
      const turn = await prompt(under.prompts.hold);
      await decide("allow", turn);
      await spoke(turn);
      await at.engine.closeAgent(agent, local);
      expect(await ended(turn)).toMatchObject({ outcome: "cancelled" });
      expect(row()).toBeUndefined();
      expect(await at.engine.openAgent({ type: "agent_open", agent }, local)).toMatchObject({
        id: agent,
        live: false,
        runtime: under.runtime,
        model: under.model,
      });
      await works();
      await checkRecords();
    });

    it("lets nothing run without a question in no mode but the one that says so", async () => {
      await at.restart({ judgeCall: allowAll });
      const turn = await prompt(under.prompts.work);
      expect(await ended(turn)).toMatchObject({ outcome: "done" });
      expect(eventsOf(agent).map((event) => event.type)).not.toContain("permission_requested");
    });
  });
}

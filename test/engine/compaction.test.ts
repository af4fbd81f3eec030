import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Runtime, TurnContext } from "../../src/engine/runtimes/runtime.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";
import { actor, engineFixture, type Fixture, local } from "./support/engine-fixture.ts";

let at: Fixture;
let histories: (readonly AgentEvent[])[];
let compacting: ((context: TurnContext) => Promise<string>) | null;
beforeEach(async () => {
  histories = [];
  compacting = null;
  const runtime: Runtime = {
    name: "rememberer",
    needsTrust: false,
    takesModel: false,
    checkPrompt: () => undefined,
    async runTurn(context) {
      histories.push(await context.history());
      return { outcome: "done" };
    },
    async compact(context) {
      histories.push(await context.history());
      return compacting ? compacting(context) : "the gist of it";
    },
  };
  at = await engineFixture({ runtimes: [runtime] });
});
afterEach(async () => {
  await at.dispose();
});

const start = async (): Promise<string> =>
  (await at.engine.startAgent({ type: "agent_start", runtime: "rememberer" }, local)).id;
const ended = (turn: string) => at.event("turn_finished", (event) => event.turn === turn);
const compact = (agent: string, by = local) => at.engine.compact({ type: "compact", agent }, by);
async function prompt(agent: string, text: string): Promise<void> {
  await ended((await at.engine.prompt({ type: "prompt", agent, text }, local)).turn);
}
const types = (records: readonly AgentEvent[] | undefined): string[] => (records ?? []).map((r) => r.type);

describe("compact", () => {
  it("is a turn that records a summary, and the agent goes on from there, over restarts", async () => {
    const agent = await start();
    await prompt(agent, "one");
    const receipt = await compact(agent);
    expect(receipt).toMatchObject({ agent, tab: at.engine.snapshot().workspace.tabs[0]?.id });
    expect(await ended(receipt.turn)).toMatchObject({ outcome: "done" });
    await prompt(agent, "two");
    await at.restart();
    await prompt(agent, "three");
    expect(histories.map(types)).toEqual([
      ["agent_started", "turn_started", "user_message"],
      ["agent_started", "turn_started", "user_message", "turn_finished", "turn_started"],
      ["compacted", "turn_finished", "turn_started", "user_message"],
      [
        ...["compacted", "turn_finished", "turn_started", "user_message", "turn_finished"],
        ...["turn_started", "user_message"],
      ],
    ]);
    expect(histories.at(-1)?.[0]).toMatchObject({ summary: "the gist of it" });
    const { records } = await at.engine.readSession(agent, {});
    expect(types(records).filter((type) => type === "user_message")).toHaveLength(3);
  });

  it("is refused where there is no context, while the agent is busy, and for another's id", async () => {
    const { id: shell } = await at.engine.startAgent({ type: "agent_start" }, local);
    await expect(compact(shell)).rejects.toMatchObject({ code: "not_supported", field: "agent" });
    await expect(compact("nobody")).rejects.toMatchObject({ code: "not_found" });
    const agent = await start();
    let finish: (summary: string) => void = () => undefined;
    compacting = () =>
      new Promise((resolve) => {
        finish = resolve;
      });
    const { turn } = await compact(agent);
    await expect(compact(agent)).rejects.toMatchObject({ code: "conflict", reason: "busy" });
    await expect(at.engine.prompt({ type: "prompt", agent, text: "x" }, local)).rejects.toMatchObject({
      reason: "busy",
    });
    expect(at.engine.snapshot().workspace.tabs[0]?.agents.find((row) => row.id === agent)).toMatchObject({
      state: "running",
      turn,
    });
    const reserved = await at.engine.prompt({ type: "prompt", agent, text: "next", queue: true }, local);
    await expect.poll(() => histories.length).toBe(1);
    finish("done");
    await ended(reserved.turn);
    expect(types(at.events().filter((event) => event.agent === agent))).toEqual([
      "agent_started",
      "turn_started",
      "compacted",
      "turn_finished",
      "turn_started",
      "user_message",
      "turn_finished",
    ]);
  });

  it("that is cancelled, fails or was asked for by a revoked device leaves the conversation as it was", async () => {
    const agent = await start();
    await prompt(agent, "one");
    compacting = ({ signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve("half"), { once: true });
      });
    const { turn } = await compact(agent);
    await expect.poll(() => histories.length).toBe(2);
    await at.engine.cancel(agent, local);
    expect(await ended(turn)).toMatchObject({ outcome: "cancelled" });
    compacting = () => Promise.reject(new Error("secret detail"));
    const failed = await ended((await compact(agent)).turn);
    expect(failed.outcome).toBe("failed");
    expect(failed.error).not.toContain("secret");
    const phone = actor("phone");
    const asked = compact(agent, phone);
    phone.revoke();
    await expect(asked).rejects.toMatchObject({ code: "unauthorized" });
    expect(types(at.events())).not.toContain("compacted");
    await prompt(agent, "two");
    expect(histories.at(-1)?.[0]?.type).toBe("agent_started");
  });
});

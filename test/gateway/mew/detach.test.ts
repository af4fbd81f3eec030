import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  afterLong,
  cancelsTurn,
  type DetachedFacts,
  mayUnload,
} from "../../../src/gateway/mew/detach-rules.ts";
import type { MewSocket } from "../../helpers/mew-socket.ts";
import type { Message } from "../../helpers/socket.ts";
import { type MewApp, newSession, startMew } from "./harness.ts";

describe("the rules of detaching", () => {
  const facts: DetachedFacts = { mewClients: 0, nativeClients: 0, turn: "t", queued: false };
  const rows: readonly [string, Partial<DetachedFacts>, string | null, boolean, boolean][] = [
    ["a legacy turn that nobody watches", {}, "t", true, false],
    ["a legacy turn that a native client may watch", { nativeClients: 1 }, "t", false, false],
    ["a legacy turn whose client came back", { mewClients: 1 }, "t", false, false],
    ["a turn that was submitted", {}, null, false, false],
    ["a turn behind a legacy one", {}, "before", false, false],
    ["no turn", { turn: null }, "t", false, true],
    ["no turn, a native client", { turn: null, nativeClients: 1 }, "t", false, false],
    ["no turn, a mew client", { turn: null, mewClients: 1 }, "t", false, false],
    ["no turn yet, one reserved", { turn: null, queued: true }, "t", false, false],
  ];
  it.each(rows)("decide for %s", (_, changed, legacyTurn, cancels, unloads) => {
    const now = { ...facts, ...changed };
    expect([cancelsTurn(now, legacyTurn), mayUnload(now)]).toEqual([cancels, unloads]);
  });

  it("wait for longer than a timer can", async () => {
    let done = false;
    const stop = afterLong(31_536_000_000, () => {
      done = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(done).toBe(false);
    stop();
    await new Promise<void>((resolve) => {
      afterLong(1, resolve);
    });
  });
});

const patience = { timeout: 60_000 };

describe("detaching", () => {
  let app: MewApp;
  beforeEach(async () => {
    app = await startMew({ engine: { judgeCall: () => ({ verdict: "allow", by: "test" }) } });
    app.graceSeconds = 0;
  });
  afterEach(() => app.close());

  const agent = () => app.engine.snapshot().workspace.tabs[0]?.agents[0];
  const unloaded = () =>
    app.fixture.change(
      (change) => change.type === "agent_updated" && !change.agent.live && change.agent.turn === null,
    );
  const outcome = () => app.fixture.event("turn_finished").then((event) => event.outcome);
  /** Resolves when everything that a client's end set off has happened. */
  const dust = () => new Promise((resolve) => setTimeout(resolve, 30));

  async function running(type: "Prompt" | "SubmitPrompt"): Promise<MewSocket> {
    const socket = await app.mew();
    const session_id = await newSession(socket);
    socket.send({ type, session_id, request_id: "k1", text: "sleep 9", attachments: [] });
    await socket.waitFor((message) => message.type === "ToolStart");
    return socket;
  }

  it("cancels the turn of a legacy Prompt after the grace period, and unloads the session", async () => {
    const socket = await running("Prompt");
    await socket.cut();
    expect(await outcome()).toBe("cancelled");
    await unloaded();
  });

  it("cancels it in the same way when the client goes to another session", async () => {
    const socket = await running("Prompt");
    await newSession(socket);
    expect(await outcome()).toBe("cancelled");
  });

  it("lets a submitted turn go on, and unloads the session when it has ended", async () => {
    const socket = await running("SubmitPrompt");
    await socket.close();
    await dust();
    expect(agent()).toMatchObject({ state: "running", live: true });
    (await app.fixture.jobs.nextCall()).end();
    expect(await outcome()).toBe("done");
    await unloaded();
  });

  it("cancels nothing while a native client is connected, and unloads when that has left", async () => {
    const native = await app.native();
    const socket = await running("Prompt");
    await socket.close();
    await dust();
    (await app.fixture.jobs.nextCall()).end();
    expect(await outcome()).toBe("done");
    await dust();
    expect(agent()).toMatchObject({ live: true });
    await native.close();
    await unloaded();
  });

  it("cancels nothing when another client of the session stays", async () => {
    const socket = await running("Prompt");
    const other = await app.mew();
    const { session_id } = socket.messages[0];
    await other.ask({ type: "AttachSession", session_id }, "SessionHistory");
    await socket.close();
    await dust();
    expect(agent()).toMatchObject({ state: "running" });
    (await app.fixture.jobs.nextCall()).end();
    expect(await outcome()).toBe("done");
    expect(agent()).toMatchObject({ live: true });
  });

  it("cancels nothing when a client comes back in time", async () => {
    app.graceSeconds = 3_600;
    const socket = await running("Prompt");
    await socket.close();
    const back = await app.mew();
    const { session_id } = socket.messages[0];
    const history: Message = await back.ask({ type: "AttachSession", session_id }, "SessionHistory");
    expect(history.messages.at(-1).parts[0].state.status).toBe("running");
    (await app.fixture.jobs.nextCall()).end();
    expect(await outcome()).toBe("done");
  });

  it("ends nothing and unloads nothing with a grace period of -1", async () => {
    app.graceSeconds = -1;
    const socket = await running("Prompt");
    await socket.close();
    await dust();
    expect(agent()).toMatchObject({ state: "running" });
    (await app.fixture.jobs.nextCall()).end();
    expect(await outcome()).toBe("done");
    await dust();
    expect(agent()).toMatchObject({ live: true });
  });

  it("lets a session that was unloaded be attached and prompted again", async () => {
    const socket = await app.mew();
    const session_id = await newSession(socket);
    await socket.close();
    await unloaded();
    const back = await app.mew();
    await back.ask({ type: "AttachSession", session_id }, "SessionHistory");
    back.send({ type: "Prompt", text: "echo hi" });
    (await app.fixture.jobs.nextCall()).end();
    expect(await outcome()).toBe("done");
  });

  it("cancels a legacy prompt that is accepted after its client has gone for good", async () => {
    const socket = await app.mew();
    await newSession(socket);
    socket.send({ type: "Prompt", text: "sleep 9" });
    await socket.close();
    expect(await outcome()).toBe("cancelled");
  });

  it("unloads sessions that were made for a client which had gone before they were there", async () => {
    const socket = await app.mew();
    for (let n = 0; n < 5; n += 1) socket.send({ type: "NewSession" });
    await socket.close();
    const states = () => app.engine.snapshot().workspace.tabs.flatMap((tab) => tab.agents);
    await vi.waitFor(() => expect(states()).toHaveLength(5), patience);
    await vi.waitFor(() => expect(states().filter(({ live }) => live)).toEqual([]), patience);
  });

  it("unloads a session that was prompted from afar when its turn has ended, not before", async () => {
    const first = await app.mew();
    const session_id = await newSession(first);
    await first.cut();
    await unloaded();
    const socket = await app.mew();
    const prompt = { type: "SubmitPrompt", session_id, request_id: "k", text: "echo hi", attachments: [] };
    expect(await socket.ask(prompt, "PromptReceipt")).toMatchObject({ status: "accepted" });
    const call = await app.fixture.jobs.nextCall();
    await dust();
    expect(agent()).toMatchObject({ live: true, state: "running" });
    call.end();
    expect(await outcome()).toBe("done");
    await vi.waitFor(() => expect(agent()?.live).toBe(false), patience);
    await socket.settle();
  });
});

import { afterEach, describe, expect, it } from "vitest";
import { mewScopes, type ScopeRow } from "../../../src/auth/scope-table.ts";
import { createMessageTable, type MewHandlers } from "../../../src/gateway/mew/message-table.ts";
import { newId } from "../../../src/lib/ids.ts";
import {
  type MewClientType,
  mewClientDefaults,
  mewClientSchemas,
  mewUnsupportedTypes,
} from "../../../src/protocol/mew/client-messages.ts";
import type { Scope } from "../../../src/protocol/scopes.ts";
import { local } from "../../engine/support/engine-fixture.ts";
import { deviceLease } from "../harness.ts";
import { type MewApp, newSession, startMew, turnEnded } from "./harness.ts";

let app: MewApp;
afterEach(() => app.close());

const deep = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

describe("frames of a mew client", () => {
  it.each([
    ["not JSON", "{"],
    ["empty", ""],
    ["binary that is no JSON", Buffer.from([0, 255, 1, 2])],
    ["an array", "[]"],
    ["null", "null"],
    ["without a type", '{"text":"x"}'],
    ["of a type that is no string", '{"type":7}'],
    ["of an unknown type", '{"type":"LaunchMissiles"}'],
    ["of a type that every object has", '{"type":"constructor"}'],
    ["of a browser message", '{"type":"browser_open","url":"http://x"}'],
    ["of a terminal message", '{"type":"TerminalOpen","rows":1,"cols":1}'],
    ["of a persona message", '{"type":"switch_persona","name":"x"}'],
    ["of a group message", '{"type":"create_group","name":"x"}'],
    ["with a wrong field", '{"type":"Prompt","text":7}'],
    ["without a field", '{"type":"AttachSession"}'],
    ["with a field that is null", '{"type":"Prompt","text":"x","attachments":null}'],
    ["too deep", `{"type":"Ping","x":${deep(64)}}`],
    ["far too deep", deep(5_000_000)],
    ["with a __proto__ key", '{"type":"Ping","__proto__":{"type":"x"}}'],
    ["that only a server sends", '{"type":"SessionReady","session_id":"x"}'],
  ])("are answered by an error where they are %s, and the connection lives", async (_, frame) => {
    app = await startMew();
    const socket = await app.mew("snake");
    socket.send(frame);
    const error = await socket.waitFor((message) => /^error$/i.test(message.type));
    expect(Object.keys(error)).toEqual(["type", "message"]);
    const pong = await socket.ask({ type: "ping" }, "pong", "Pong");
    expect(pong).toMatchObject({ version: "1.2.3", protocol_version: 3 });
    expect(app.engine.snapshot().workspace.tabs[0]?.agents).toEqual([]);
  });

  it("are answered in the spelling of the first, and before it in the document's", async () => {
    app = await startMew();
    const socket = await app.mew();
    expect(await socket.ask("nonsense" as never, "Error")).toBeDefined();
    expect(await socket.ask({ type: "ping" }, "pong", "Pong")).toMatchObject({ type: "pong" });
    expect(await socket.ask({ type: "Ping" }, "pong", "Pong")).toMatchObject({ type: "pong" });
    expect(await socket.ask({ type: "list_personas" }, "persona_list")).toMatchObject({ personas: [] });
    const camel = await app.mew();
    await camel.settle();
    expect((await camel.ask({ type: "ListPersonas" }, "Error")).message).toMatch(/snake_case/);
  });

  it("close the connection with 4400 at the twentieth malformed one in a minute, never for an unknown type", async () => {
    app = await startMew();
    const socket = await app.mew();
    for (let n = 0; n < 50; n += 1) socket.send({ type: "FromTheFuture" });
    for (let n = 0; n < 19; n += 1) socket.send("nonsense");
    await socket.settle();
    socket.send("nonsense");
    expect((await socket.closed).code).toBe(4400);
  });

  it("close the connection with 1009 when one is too large, a prompt of 100 MB", async () => {
    app = await startMew();
    const socket = await app.mew();
    await newSession(socket);
    socket.send({ type: "Prompt", text: "x".repeat(100_000_000) });
    expect((await socket.closed).code).toBe(1009);
    expect(app.fixture.jobs.calls).toEqual([]);
    await (await app.mew()).settle();
  });

  it("are refused over the rate, and a flood closes the connection with 4429", async () => {
    app = await startMew();
    const socket = await app.mew();
    for (let n = 0; n < 3_000; n += 1) socket.send({ type: "ListModels" });
    const { code, reason } = await socket.closed;
    expect(code).toBe(4429);
    expect(reason).toMatch(/retry_after/);
    expect(socket.messages.filter((message) => message.type === "Error")[0]?.message).toMatch(/a second/);
  });
});

describe("scopes", () => {
  const types = Object.keys(mewClientSchemas) as MewClientType[];
  const id = newId();
  const fields: Record<string, unknown> = {
    session_id: id,
    request_id: id,
    job_id: "3fa9c210",
    text: "rm -rf x",
    offset: 0,
    decision: "allow_once",
    command: "/clear",
    provider: "replay",
    model: "x",
    variant: "high",
    before: 0,
    title: "x",
    mode: "dangerous",
    archived: true,
    pinned: true,
    enabled: true,
    path: ".",
  };
  const messageOf = (type: MewClientType): Record<string, unknown> => {
    const { required }: { required: string[] } = mewClientSchemas[type] as never;
    const given = required.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]);
    return { ...mewClientDefaults[type], ...Object.fromEntries(given), type };
  };

  it("have a row for every message, those that are refused too, and no other", () => {
    expect(new Set(Object.keys(mewScopes))).toEqual(new Set([...types, ...mewUnsupportedTypes]));
    const none = {} as MewHandlers;
    const { prompt: _prompt, ...without } = mewScopes;
    expect(() => createMessageTable(none, without)).toThrow(/prompt has no row/);
    expect(() => createMessageTable(none, { ...mewScopes, prompt: { needs: "public" } })).toThrow(/public/);
  });

  it.each([[["view"]], [["view", "approve"]], [["view", "drive"]]] as Scope[][][])(
    "let a device with %j do what its scopes say, and change nothing else",
    async (scopes) => {
      app = await startMew();
      const { tab } = await app.engine.startAgent({ type: "agent_start" }, local);
      const before = app.fixture.changes.length;
      app.lease = deviceLease(scopes);
      const socket = await app.mew("snake");
      const held = new Set<string>(scopes);
      for (const type of types) {
        const row: ScopeRow = mewScopes[type];
        const message = messageOf(type);
        const needs = [...row.needs, ...(row.alsoNeeds?.(message) ?? [])] as Scope[];
        const missing = needs.filter((scope) => !held.has(scope));
        if (missing.length === 0) continue;
        const error = await socket.ask(message, "error");
        expect([type, error.message]).toEqual([type, expect.stringMatching(`scope "${missing[0]}"`)]);
        await socket.settle();
      }
      const changed = app.fixture.changes.slice(before).filter((change) => change.type !== "clients");
      expect(changed).toEqual([]);
      expect(app.engine.snapshot().workspace.tabs[0]).toMatchObject({ id: tab, mode: "ask" });
    },
  );

  it("do not let drive alone remember a permission for the session", async () => {
    app = await startMew();
    const owner = await app.mew();
    const session_id = await newSession(owner);
    owner.send({ type: "Prompt", text: "ls" });
    const { request_id } = await owner.waitFor((message) => message.type === "PermissionRequest");
    for (const scopes of [
      ["view", "drive"],
      ["view", "approve"],
    ] as Scope[][]) {
      app.lease = deviceLease(scopes);
      const socket = await app.mew();
      await socket.ask({ type: "AttachSession", session_id }, "SessionHistory");
      const answer = { type: "PermissionResponse", request_id, decision: "allow_session" };
      expect((await socket.ask(answer, "Error")).message).toMatch(/scope/);
    }
    expect(app.engine.snapshot().pending).toHaveLength(1);
  });
});

describe("the end of a connection", () => {
  it("comes with 4401 at once when the device is revoked, its other sockets hear nothing", async () => {
    app = await startMew();
    const lease = deviceLease();
    app.lease = lease;
    const sockets = await Promise.all(Array.from({ length: 3 }, () => app.mew("snake")));
    const [first] = sockets;
    const { session_id } = (await first?.ask({ type: "new_session" }, "session_ready")) ?? {};
    for (const socket of sockets.slice(1))
      await socket.ask({ type: "attach_session", session_id }, "session_history_page");
    for (const socket of sockets) await socket.settle();
    const heard = sockets.map((socket) => socket.messages.length);
    lease.end("revoked");
    for (const socket of sockets) expect((await socket.closed).code).toBe(4401);
    expect(sockets.map((socket) => socket.messages.length)).toEqual(heard);
  });

  it("comes with 4403 when exposure is switched off, or the device may no longer view", async () => {
    app = await startMew();
    const lease = deviceLease();
    app.lease = lease;
    const [one, two] = [await app.mew(), await app.mew()];
    await newSession(two);
    lease.scopes.delete("view");
    await app.engine.startAgent({ type: "agent_start" }, local);
    one.send({ type: "Ping" });
    expect((await one.closed).code).toBe(4403);
    app.registry.closeRemote();
    expect((await two.closed).code).toBe(4403);
  });

  it("comes with 1001 at shutdown", async () => {
    app = await startMew();
    const socket = await app.mew();
    await newSession(socket);
    await app.registry.shutdown(100);
    expect((await socket.closed).code).toBe(1001);
  });
});

describe("a mew client that reads slowly", () => {
  it("never makes the daemon hold more than its queue, and is told the history again when it reads", async () => {
    const maxQueueBytes = 256 * 1024;
    app = await startMew({
      maxQueueBytes,
      engine: { judgeCall: () => ({ verdict: "allow", by: "test" }) },
    });
    const socket = await app.mew();
    const fast = await app.mew();
    const session_id = await newSession(socket);
    await fast.ask({ type: "AttachSession", session_id }, "SessionHistory");
    socket.ws.pause();
    socket.send({ type: "Prompt", text: "flood" });
    const call = await app.fixture.jobs.nextCall();
    const chunk = "0123456789".repeat(1_000);
    for (let n = 0; n < 2_000; n += 1) {
      call.spec.onOutput(chunk);
      if (n % 100 === 0) await new Promise(setImmediate);
    }
    call.end({ output: "the end\n" });
    await fast.waitFor(turnEnded);
    const held = app.sockets.map((each) => each.writableLength);
    expect(Math.max(...held)).toBeLessThan(2 * maxQueueBytes);
    socket.ws.resume();
    await socket.waitFor(
      (message) => message.type === "SessionReady" && socket.messages.indexOf(message) > 1,
    );
    const again = await socket.waitFor(
      (message) => message.type === "SessionHistory" && message.messages.length > 0,
    );
    expect(again.messages.at(-1).parts[0].state).toMatchObject({ status: "completed", output: "the end\n" });
    expect(socket.messages.filter((message) => message.type === "ToolProgress").length).toBeLessThan(2_000);
    await socket.settle();
    socket.send({ type: "Prompt", text: "echo live again" });
    (await app.fixture.jobs.nextCall()).end();
    const from = socket.messages.length;
    await socket.waitFor(turnEnded, from);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Client, ClientStatus } from "../../src/client/client.ts";
import { createLiveClient } from "../../src/client/live-client.ts";
import type { Change, MissedChanges } from "../../src/protocol/changes.ts";
import {
  clientsChange,
  type FakeServer,
  fakeServer,
  refusal,
  snapshotOf,
  unreachable,
} from "./fake-socket.ts";

let server: FakeServer;
let client: Client;
let asked: string[];
let daemonAnswers: Error | null;

function start(): Client {
  client = createLiveClient({
    open: server.open,
    rest: {
      async request(method, path) {
        asked.push(`${method} ${path}`);
        if (daemonAnswers) throw daemonAnswers;
        return { status: 200, body: {} };
      },
    },
    version: "1.0.0",
    random: () => 0,
  });
  return client;
}

/** Lets promises and no time pass. */
const settle = () => vi.advanceTimersByTimeAsync(0);

async function connected(rev = 10) {
  start();
  await settle();
  const socket = await server.next();
  socket.say(snapshotOf(rev));
  await settle();
  return socket;
}

function missed(since: number, changes: readonly Change[]): MissedChanges {
  return { type: "snapshot", since, rev: changes.at(-1)?.rev ?? since, instance: "i1", changes };
}

beforeEach(() => {
  vi.useFakeTimers();
  server = fakeServer();
  asked = [];
  daemonAnswers = null;
});
afterEach(() => {
  client.close();
  vi.useRealTimers();
});

describe("a live client", () => {
  it("is ready with the snapshot and applies every change to it", async () => {
    const socket = await connected();
    expect((await client.ready()).rev).toBe(10);
    expect(client.status).toEqual({ phase: "live" });
    const heard: number[] = [];
    client.onChange((change, state) => heard.push(change.rev, state.daemon.clients));
    socket.say(clientsChange(11, 5));
    socket.say(clientsChange(12, 6));
    expect(heard).toEqual([11, 5, 12, 6]);
    expect(client.state).toMatchObject({ rev: 12, daemon: { clients: 6 } });
  });

  it("comes back with `since` and tells only what was missed, each change once", async () => {
    const socket = await connected();
    const heard: number[] = [];
    let wholes = 0;
    client.onChange((change) => heard.push(change.rev));
    client.onSnapshot(() => {
      wholes += 1;
    });
    socket.say(clientsChange(11));
    socket.close(1006);
    await settle();
    expect(client.status).toMatchObject({ phase: "waiting", retryInMs: 250 });
    await vi.advanceTimersByTimeAsync(250);
    const second = await server.next();
    expect(second.path).toBe("/api/ws?version=1.0.0&since=11&instance=i1&workspace=w1");
    second.say(missed(11, [clientsChange(12), clientsChange(13)]));
    second.say(clientsChange(14));
    await settle();
    expect(heard).toEqual([11, 12, 13, 14]);
    expect(wholes).toBe(0);
    expect(client.state?.rev).toBe(14);
  });

  it("takes the whole state of another process, however its revs stand", async () => {
    const socket = await connected(4_000);
    socket.close(1001, "restart");
    await vi.advanceTimersByTimeAsync(250);
    const second = await server.next();
    const wholes: string[] = [];
    client.onSnapshot((state) => wholes.push(state.instance));
    second.say(snapshotOf(3, "i2"));
    second.say(clientsChange(4, 9));
    await settle();
    expect(wholes).toEqual(["i2"]);
    expect(client.state).toMatchObject({ rev: 4, instance: "i2", daemon: { clients: 9 } });
  });

  it("asks for what it missed after `lagged`, and lets nothing be told twice or left out", async () => {
    const socket = await connected();
    const heard: number[] = [];
    client.onChange((change) => heard.push(change.rev));
    socket.say({ type: "lagged", rev: 20 });
    // Sent by the daemon before it read our command: the reply holds it as well.
    socket.say(clientsChange(21));
    expect(socket.sent.at(-1)).toMatchObject({ type: "snapshot", since: 10, instance: "i1" });
    const changes = Array.from({ length: 11 }, (_, index) => clientsChange(11 + index));
    socket.reply("snapshot", missed(10, changes));
    await settle();
    socket.say(clientsChange(22));
    expect(heard).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22]);
  });

  it("treats a gap in the revs like `lagged`, and asks once", async () => {
    const socket = await connected();
    socket.say(clientsChange(13));
    socket.say(clientsChange(14));
    expect(socket.sent.filter(({ type }) => type === "snapshot")).toHaveLength(1);
    socket.reply("snapshot", snapshotOf(14));
    await settle();
    expect(client.state?.rev).toBe(14);
  });

  it("asks for the whole state where a change does not say enough, and goes on telling changes", async () => {
    const socket = await connected();
    const heard: number[] = [];
    client.onChange((change) => heard.push(change.rev));
    socket.say({ type: "workspace_deleted", rev: 11, workspace: "w1" });
    socket.say(clientsChange(12));
    expect(socket.sent.at(-1)).not.toHaveProperty("since");
    socket.reply("snapshot", snapshotOf(12));
    await settle();
    socket.say(clientsChange(13));
    expect(heard).toEqual([11, 12, 13]);
    expect(socket.sent.filter(({ type }) => type === "snapshot")).toHaveLength(1);
  });

  it.each(["workspace_open", "launch"] as const)(
    "has the state of the workspace that `%s` moved it to, when the reply is there",
    async (type) => {
      const socket = await connected();
      const there = { ...snapshotOf(11), workspace: { ...snapshotOf(11).workspace, id: "w2", name: "two" } };
      const seen: (string | undefined)[] = [];
      const done = client
        .command(type === "launch" ? { type } : { type, workspace: "w2" })
        .then(() => seen.push(client.state?.workspace.name));
      socket.reply(type, {
        type: type === "launch" ? "launched" : "workspace_opened",
        workspace: "w2",
        tab: "t",
      });
      await settle();
      expect(seen).toEqual([]);
      expect(socket.sent.at(-1)).not.toHaveProperty("since");
      socket.reply("snapshot", there);
      await done;
      expect(seen).toEqual(["two"]);
    },
  );

  it("asks once more when it moved while a snapshot of the workspace before was on its way", async () => {
    const socket = await connected();
    socket.say({ type: "workspace_deleted", rev: 11, workspace: "w1" });
    void client.command({ type: "workspace_open", workspace: "w2" });
    socket.reply("workspace_open", { type: "workspace_opened", workspace: { id: "w2" } });
    await settle();
    socket.reply("snapshot", snapshotOf(11));
    await settle();
    expect(socket.sent.filter((sent) => sent.type === "snapshot")).toHaveLength(2);
    socket.reply("snapshot", { ...snapshotOf(11), workspace: { ...snapshotOf(11).workspace, id: "w2" } });
    await settle();
    expect(client.state?.workspace.id).toBe("w2");
    expect(socket.sent.filter((sent) => sent.type === "snapshot")).toHaveLength(2);
  });

  it("asks for the whole state when it is told to, and for nothing without a connection", async () => {
    start();
    client.refresh();
    await settle();
    const socket = await server.next();
    socket.say(snapshotOf(10));
    await settle();
    client.refresh();
    expect(socket.sent.at(-1)).toMatchObject({ type: "snapshot" });
    expect(socket.sent.at(-1)).not.toHaveProperty("since");
    const wholes: number[] = [];
    client.onSnapshot(({ rev }) => wholes.push(rev));
    socket.reply("snapshot", snapshotOf(10));
    await settle();
    expect(wholes).toEqual([10]);
  });

  it("asks for nothing when it moved to where it is", async () => {
    const socket = await connected();
    const done = client.command({ type: "workspace_open", workspace: snapshotOf(10).workspace.id });
    socket.reply("workspace_open", { type: "workspace_opened", workspace: snapshotOf(10).workspace });
    await done;
    expect(socket.sent.filter((sent) => sent.type === "snapshot")).toHaveLength(0);
  });

  it("remembers that the versions differ, which only the first message tells", async () => {
    start();
    await settle();
    const socket = await server.next();
    const first = snapshotOf(10);
    socket.say({ ...first, daemon: { ...first.daemon, version_mismatch: true } });
    await settle();
    socket.say({ type: "lagged", rev: 20 });
    socket.reply("snapshot", snapshotOf(20));
    await settle();
    expect(client.state?.daemon.version_mismatch).toBe(true);
  });

  it("connects anew when what is missing is refused", async () => {
    const socket = await connected();
    socket.say({ type: "lagged", rev: 20 });
    socket.reply("snapshot", { type: "error", code: "rate_limited", message: "Slow down." });
    await vi.advanceTimersByTimeAsync(250);
    expect((await server.next()).path).toContain("since=10");
  });

  it("passes on news of jobs and ignores what it does not know", async () => {
    const socket = await connected();
    const news: number[] = [];
    client.onJobMore(({ size }) => news.push(size));
    socket.say({ type: "job_more", job: "j1", size: 7, running: true });
    socket.say({ type: "weather", sun: true });
    socket.say({ type: "error", code: "bad_request", message: "Hm." });
    expect(news).toEqual([7]);
    expect(client.state?.rev).toBe(10);
  });

  it("keeps going when a listener throws", async () => {
    const socket = await connected();
    const thrown: unknown[] = [];
    const catchIt = (error: unknown): void => {
      thrown.push(error);
    };
    const before = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.on("uncaughtException", catchIt);
    try {
      client.onChange(() => {
        throw new Error("a listener's own fault");
      });
      const heard: number[] = [];
      client.onChange((change) => heard.push(change.rev));
      socket.say(clientsChange(11));
      await new Promise<void>((resolve) => process.nextTick(resolve));
      expect(heard).toEqual([11]);
    } finally {
      process.off("uncaughtException", catchIt);
      for (const listener of before) process.on("uncaughtException", listener);
    }
    expect(thrown).toMatchObject([{ message: "a listener's own fault" }]);
  });
});

describe("a live client that stops", () => {
  it.each([
    [4401, "revoked", "revoked"],
    [4403, "", "remote_off"],
    [4403, "scope_missing", "scope_missing"],
    [4400, "", "malformed"],
  ])("after the close code %i %s: no further try, ever", async (code, reason, why) => {
    const socket = await connected();
    socket.close(code, reason);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(client.status).toMatchObject({ phase: "stopped", reason: why });
    expect(server.sockets).toHaveLength(1);
    expect(asked).toEqual([]);
    await expect(client.command({ type: "ping" })).rejects.toMatchObject({
      name: "StoppedError",
      reason: why,
    });
  });

  it.each([
    ["revoked", refusal(401, "unauthorized")],
    ["remote_off", refusal(403, "remote_off")],
  ])("%s: learns it from GET /api/daemon after a refused upgrade", async (reason, answer) => {
    // A browser shows no status of a refused upgrade.
    server.failures.push(unreachable());
    daemonAnswers = answer;
    const ready = start().ready();
    const failed = expect(ready).rejects.toMatchObject({ name: "StoppedError", reason });
    await vi.advanceTimersByTimeAsync(3_600_000);
    await failed;
    expect(asked).toEqual(["GET /api/daemon"]);
    expect(server.sockets).toHaveLength(0);
  });

  it("does not loop: an hour of refusals that may end costs at most 250 tries", async () => {
    server.failures.push(...Array.from({ length: 1_000 }, unreachable));
    daemonAnswers = refusal(403, "host_refused");
    start();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(asked.length).toBeLessThan(250);
    expect(asked.length).toBeGreaterThan(100);
    expect(client.status).toMatchObject({ phase: "waiting", message: "host_refused." });
  });

  it("by close: commands and prompts are rejected, nothing is sent any more", async () => {
    const socket = await connected();
    const prompt = client.prompt({ text: "ls" });
    const refused = expect(prompt).rejects.toMatchObject({ name: "StoppedError", reason: "closed" });
    client.close();
    client.close();
    await refused;
    await expect(client.prompt({ text: "ls" })).rejects.toMatchObject({ reason: "closed" });
    socket.say(clientsChange(11));
    expect(client.state?.rev).toBe(10);
    expect(socket.isClosedByClient).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("by close while it connects: the socket that opens late is closed", async () => {
    start();
    client.close();
    await settle();
    const socket = await server.next();
    socket.say(snapshotOf(1));
    await settle();
    expect(socket.isClosedByClient).toBe(true);
    await expect(client.ready()).rejects.toMatchObject({ reason: "closed" });
  });
});

describe("a live client that waits", () => {
  it("waits longer after each failure, and shorter again after a connection that held", async () => {
    const waits: number[] = [];
    server.failures.push(unreachable(), unreachable(), unreachable());
    daemonAnswers = unreachable();
    start();
    client.onStatus((status: ClientStatus) => {
      if (status.phase === "waiting") waits.push(status.retryInMs);
    });
    await vi.advanceTimersByTimeAsync(250 + 500 + 1_000);
    const socket = await server.next();
    socket.say(snapshotOf(1));
    await vi.advanceTimersByTimeAsync(10_000);
    socket.close(1006);
    await settle();
    expect(waits).toEqual([250, 500, 1_000, 250]);
  });

  it("waits longer after each connection that closes at once", async () => {
    start();
    const waits: number[] = [];
    client.onStatus((status) => {
      if (status.phase === "waiting") waits.push(status.retryInMs);
    });
    for (const waitMs of [250, 500, 1_000]) {
      await settle();
      const socket = await server.next();
      socket.say(snapshotOf(1));
      await settle();
      socket.close(1011);
      await vi.advanceTimersByTimeAsync(waitMs);
    }
    expect(waits).toEqual([250, 500, 1_000]);
  });

  it("waits as long as a flood's close asks for", async () => {
    const socket = await connected();
    socket.close(4429, '{"retry_after":7}');
    await vi.advanceTimersByTimeAsync(6_999);
    expect(server.sockets).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(server.sockets).toHaveLength(2);
  });

  it("tries at once when it is woken", async () => {
    const socket = await connected();
    socket.close(4429, '{"retry_after":500}');
    await settle();
    client.wake();
    await settle();
    expect(server.sockets).toHaveLength(2);
  });

  it("gives up a daemon that opens no socket or sends no snapshot", async () => {
    server.failures.push("silence");
    start();
    await vi.advanceTimersByTimeAsync(15_000 + 250);
    const socket = await server.next();
    await vi.advanceTimersByTimeAsync(15_000 + 500);
    expect(socket.isClosedByClient).toBe(true);
    const third = await server.next();
    third.say(snapshotOf(1));
    await settle();
    expect(client.status.phase).toBe("live");
  });
});

describe("a peer that is gone without a word", () => {
  it("is asked after 30 s of silence and given up 10 s later", async () => {
    const socket = await connected();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(socket.sent.at(-1)).toMatchObject({ type: "ping" });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(socket.isClosedByClient).toBe(true);
    expect(client.status.phase).toBe("waiting");
    // What the dead socket still delivers counts for nothing.
    socket.say(clientsChange(11));
    expect(client.state?.rev).toBe(10);
  });

  it("is believed when it answers, and asked again after the next silence", async () => {
    const socket = await connected();
    for (let round = 0; round < 3; round += 1) {
      await vi.advanceTimersByTimeAsync(30_000);
      socket.reply("ping", { type: "pong", at: "2026-01-01T00:00:00.000Z" });
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(client.status.phase).toBe("live");
    expect(socket.sent.filter(({ type }) => type === "ping")).toHaveLength(3);
  });

  it("is not asked while it talks", async () => {
    const socket = await connected();
    for (let rev = 11; rev < 40; rev += 1) {
      await vi.advanceTimersByTimeAsync(10_000);
      socket.say(clientsChange(rev));
    }
    expect(socket.sent).toEqual([]);
  });

  it("is asked at once when the page wakes, and given up within 3 s", async () => {
    const socket = await connected();
    client.wake();
    expect(socket.sent.at(-1)).toMatchObject({ type: "ping" });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(socket.isClosedByClient).toBe(true);
  });
});

describe("a prompt", () => {
  const ack = { type: "ack", status: "accepted", workspace: "w1", tab: "t1", agent: "a1", turn: "u1" };

  it("is sent with an id of its own and resolves with its receipt", async () => {
    const socket = await connected();
    const prompt = client.prompt({ text: "ls", tab: "t1" });
    const [sent] = socket.sent;
    expect(sent).toMatchObject({
      type: "prompt",
      text: "ls",
      tab: "t1",
      request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(client.unsentPrompts).toEqual([sent?.request_id]);
    socket.reply("prompt", ack);
    expect(await prompt).toEqual({ request_id: sent?.request_id, agent: "a1", turn: "u1" });
    expect(client.unsentPrompts).toEqual([]);
  });

  it("is not sent twice when the reply was lost: its receipt is asked for first", async () => {
    const socket = await connected();
    const prompt = client.prompt({ text: "rm -rf build", request_id: "k1" });
    socket.close(1006);
    await vi.advanceTimersByTimeAsync(250);
    const second = await server.next();
    second.say(missed(10, []));
    await settle();
    expect(second.sent).toMatchObject([{ type: "receipt", request_id: "k1" }]);
    second.reply("receipt", {
      type: "receipt",
      request_id: "k1",
      status: "accepted",
      agent: "a1",
      turn: "u1",
    });
    expect(await prompt).toEqual({ request_id: "k1", agent: "a1", turn: "u1" });
    expect(second.sent).toHaveLength(1);
  });

  it("is sent again with the same id when the daemon does not know it", async () => {
    const socket = await connected();
    const prompt = client.prompt({ text: "ls", request_id: "k1" });
    socket.close(1006);
    await vi.advanceTimersByTimeAsync(250);
    const second = await server.next();
    second.say(missed(10, []));
    await settle();
    second.reply("receipt", { type: "receipt", request_id: "k1", status: "unknown" });
    await settle();
    expect(second.sent.at(-1)).toMatchObject({ type: "prompt", request_id: "k1", text: "ls" });
    second.reply("prompt", ack);
    expect(await prompt).toMatchObject({ turn: "u1" });
  });

  it("that was rejected is not sent again", async () => {
    const socket = await connected();
    const prompt = client.prompt({ text: "ls", request_id: "k1" });
    const refused = expect(prompt).rejects.toMatchObject({ name: "AnswerError", message: "Busy." });
    socket.close(1006);
    await vi.advanceTimersByTimeAsync(250);
    const second = await server.next();
    second.say(missed(10, []));
    await settle();
    second.reply("receipt", { type: "receipt", request_id: "k1", status: "rejected", message: "Busy." });
    await refused;
    expect(second.sent).toHaveLength(1);
  });

  it("given while there is no connection is kept and sent in order", async () => {
    start();
    void client.prompt({ text: "one", request_id: "k1" });
    void client.prompt({ text: "two", request_id: "k2" });
    await settle();
    const socket = await server.next();
    socket.say(snapshotOf(1));
    await settle();
    // Never sent before: nothing to ask.
    expect(socket.sent).toMatchObject([{ type: "prompt", request_id: "k1" }]);
    socket.reply("prompt", ack);
    await settle();
    expect(socket.sent).toMatchObject([{ request_id: "k1" }, { type: "prompt", request_id: "k2" }]);
    socket.reply("prompt", ack);
    await settle();
    expect(client.unsentPrompts).toEqual([]);
  });

  it("that was not sent yet can be withdrawn, and one that was sent cannot", async () => {
    start();
    const first = client.prompt({ text: "rm -r build", request_id: "k1" });
    const withdrawn = expect(first).rejects.toThrow("withdrawn");
    void client.prompt({ text: "ls", request_id: "k2" });
    expect(client.withdrawPrompt("k1")).toBe(true);
    await withdrawn;
    await settle();
    const socket = await server.next();
    socket.say(snapshotOf(1));
    await settle();
    expect(socket.sent).toMatchObject([{ type: "prompt", request_id: "k2" }]);
    expect(client.withdrawPrompt("k2")).toBe(false);
    expect(client.withdrawPrompt("k1")).toBe(false);
    expect(client.unsentPrompts).toEqual(["k2"]);
  });

  it("of a page that was loaded anew is asked for before it is sent", async () => {
    const socket = await connected();
    void client.prompt({ text: "ls", request_id: "k1" }, { mayHaveBeenSent: true });
    expect(socket.sent).toMatchObject([{ type: "receipt", request_id: "k1" }]);
    socket.reply("receipt", {
      type: "receipt",
      request_id: "k1",
      status: "accepted",
      agent: "a1",
      turn: "u1",
    });
    await settle();
    expect(client.unsentPrompts).toEqual([]);
  });

  it("that the daemon refuses is the caller's to handle", async () => {
    const socket = await connected();
    const prompt = client.prompt({ text: "ls" });
    socket.reply("prompt", { type: "error", code: "conflict", reason: "busy", message: "Busy." });
    await expect(prompt).rejects.toMatchObject({ body: { reason: "busy" } });
    expect(client.unsentPrompts).toEqual([]);
  });

  it("too large for a frame is not sent again and again", async () => {
    const socket = await connected();
    const prompt = client.prompt({ text: "ls" });
    const refused = expect(prompt).rejects.toMatchObject({ status: 413 });
    socket.close(1009);
    await vi.advanceTimersByTimeAsync(250);
    await refused;
    const second = await server.next();
    second.say(missed(10, []));
    await settle();
    expect(second.sent).toEqual([]);
  });

  it("is refused when a hundred wait already", async () => {
    start();
    const waiting = Array.from({ length: 100 }, () => client.prompt({ text: "ls" }));
    for (const prompt of waiting) prompt.catch(() => undefined);
    await expect(client.prompt({ text: "ls" })).rejects.toMatchObject({ name: "UnreachableError" });
  });
});

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import WebSocket from "ws";
import { type ConnectedClient, createClient } from "../../src/client/create-client.ts";
import { pair } from "../../src/client/pair.ts";
import { sendWithFetch, type WebSocketConstructor } from "../../src/client/web-transport.ts";
import type { Snapshot } from "../../src/protocol/changes.ts";
import { disposeDaemons, startTestDaemon, type TestDaemon } from "../helpers/daemon.ts";
import { startForwarder } from "../helpers/forwarder.ts";

/** Each tells of half a megabyte; together more than the queue of a client and what the kernel takes on both sides. */
const rounds = 40;

/** A WebSocket that reads only when it is let. */
function slowSocket() {
  const open = new Set<WebSocket>();
  let isPaused = false;
  const seen: string[] = [];
  class SlowSocket extends WebSocket {
    constructor(url: string) {
      super(url, { perMessageDeflate: false });
      open.add(this);
      this.on("message", (data) => seen.push(data.toString().slice(0, 40)));
      this.on("open", () => {
        if (isPaused) this.pause();
      });
    }
  }
  return {
    construct: SlowSocket as unknown as WebSocketConstructor,
    seen,
    get connections() {
      return open.size;
    },
    pause() {
      isPaused = true;
      for (const socket of open) if (socket.readyState === WebSocket.OPEN) socket.pause();
    },
    resume() {
      isPaused = false;
      for (const socket of open) if (socket.isPaused) socket.resume();
    },
  };
}

let daemon: TestDaemon;
const clients: ConnectedClient[] = [];

async function pairedClient(name: string, options: { base?: string; WebSocket?: WebSocketConstructor } = {}) {
  const { json } = await daemon.request("POST", "/api/pair/codes", { body: {} });
  const base = options.base ?? daemon.url;
  const { token } = await pair({ base: daemon.url, code: json.code, name, send: sendWithFetch });
  const client = createClient({
    base,
    token,
    // The shortest waits: this network comes and goes all the time.
    random: () => 0,
    ...(options.WebSocket ? { WebSocket: options.WebSocket } : {}),
  });
  clients.push(client);
  const revs: number[] = [];
  const prompts: string[] = [];
  let wholes = 0;
  client.onChange((change) => {
    revs.push(change.rev);
    if (change.type === "event" && change.event.type === "user_message") prompts.push(change.event.text);
  });
  client.onSnapshot(() => {
    wholes += 1;
  });
  await client.ready();
  return {
    client,
    revs,
    prompts,
    get wholes() {
      return wholes;
    },
  };
}

/** Without what differs from client to client by its nature. */
function common(state: Snapshot | null): unknown {
  if (state === null) return null;
  const { daemon: facts, ...rest } = state;
  return { ...rest, daemon: { ...facts, principal: null, version_mismatch: null } };
}

beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  for (const client of clients) client.close();
  await disposeDaemons();
});

describe("three clients of one daemon", () => {
  it("end with the same state: one steady, one whose network comes and goes, one that does not keep up", async () => {
    const way = await startForwarder({ port: daemon.port });
    const slowly = slowSocket();
    const steady = await pairedClient("steady");
    const flapping = await pairedClient("flapping", { base: `http://127.0.0.1:${way.port}` });
    const slow = await pairedClient("slow", { WebSocket: slowly.construct });
    const { client } = steady;
    const tab = client.state?.workspace.active_tab ?? "";
    await client.command({ type: "mode", tab, mode: "autopilot" });

    slowly.pause();
    // Each time it is back it hears some: a clock would cut a busy machine off before it had connected. After five times
    // the client would wait longer and longer.
    let heard = 0;
    const stopFlapping = flapping.client.onChange(() => {
      heard += 1;
      if (heard % 20 === 0 && heard <= 100) setImmediate(way.cut);
    });
    try {
      // Prompts from the one whose connection breaks, each sent once.
      const asked = Array.from({ length: 12 }, (_, index) => `echo prompt-${index}`);
      const receipts = asked.map((text) => flapping.client.prompt({ tab, text }));
      // More than a client may leave unread, and changes of every kind.
      for (let round = 0; round < rounds; round += 1) {
        const { agent } = await client.prompt({ tab, text: `: ${"x".repeat(125_000)}` });
        const made = await client.command({ type: "tab_create", cwd: "/" });
        await client.command({ type: "job_start", tab, command: "echo job" });
        await vi.waitFor(
          () => {
            const row = client.state?.workspace.tabs
              .flatMap(({ agents }) => agents)
              .find(({ id }) => id === agent);
            expect(row?.state).toBe("idle");
          },
          { timeout: 60_000, interval: 20 },
        );
        await client.command({ type: "agent_close", agent });
        await client.command({ type: "tab_close", tab: made.tab ?? "" });
      }
      expect(new Set((await Promise.all(receipts)).map(({ turn }) => turn)).size).toBe(asked.length);
      await vi.waitFor(
        () => expect(steady.prompts.filter((text) => text.startsWith("echo")).sort()).toEqual(asked.sort()),
        { timeout: 60_000, interval: 20 },
      );
    } finally {
      stopFlapping();
      slowly.resume();
    }

    await vi.waitFor(
      async () => {
        const { json } = await daemon.request("GET", "/api/snapshot");
        for (const each of [steady, flapping, slow]) {
          expect(each.client.status.phase).toBe("live");
          expect(common(each.client.state)).toEqual(common(json));
        }
      },
      { timeout: 60_000, interval: 100 },
    );

    // The steady one heard everything, in one row; nobody heard a change twice or in the wrong order.
    expect(steady.revs).toEqual(
      Array.from({ length: steady.revs.length }, (_, index) => (steady.revs[0] ?? 0) + index),
    );
    for (const { revs } of [flapping, slow]) expect(revs).toEqual([...new Set(revs)].sort((a, b) => a - b));
    // On a machine under load it did not read for so long that it was closed (4408), and came back with `since`.
    const hasLagged = slowly.seen.some((text) => text.startsWith('{"type":"lagged"'));
    expect(hasLagged || slowly.connections > 1).toBe(true);
    await way.close();
  });
});

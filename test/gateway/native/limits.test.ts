import { once } from "node:events";
import type { Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { openSocket } from "../../helpers/socket.ts";
import { deviceLease, job, startTestApp, type TestApp } from "../harness.ts";
import { maskedText, rawSocket } from "./raw-socket.ts";

let app: TestApp;
afterEach(() => app.close());

const deep = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const manyMalformed = 20;

describe("malformed frames", () => {
  const rows: readonly [string, string | Buffer, string, string | undefined][] = [
    ["not JSON", "{", "bad_request", undefined],
    ["empty", "", "bad_request", undefined],
    ["binary", Buffer.from('{"type":"ping"}'), "bad_request", undefined],
    ["an array", "[]", "bad_request", undefined],
    ["null", "null", "bad_request", undefined],
    ["a number", "7", "bad_request", undefined],
    ["without a type", '{"client_ref":"m"}', "invalid_field", "type"],
    ["of a type that is no string", '{"type":7,"client_ref":"m"}', "invalid_field", "type"],
    ["of an unknown type", '{"type":"launch_missiles","client_ref":"m"}', "invalid_field", "type"],
    ["of a type that every object has", '{"type":"constructor","client_ref":"m"}', "invalid_field", "type"],
    ["with a wrong field", '{"type":"prompt","text":7,"client_ref":"m"}', "invalid_field", "text"],
    ["without a field", '{"type":"cancel","client_ref":"m"}', "invalid_field", "agent"],
    [
      "with a wrong field inside",
      '{"type":"prompt","text":"x","images":[{"name":"a","mime":"b","data":1}],"client_ref":"m"}',
      "invalid_field",
      "images.0.data",
    ],
    ["with a client_ref that is no string", '{"type":"ping","client_ref":7}', "invalid_field", "client_ref"],
    [
      "with a long client_ref",
      `{"type":"ping","client_ref":"${"x".repeat(129)}"}`,
      "invalid_field",
      "client_ref",
    ],
    ["too deep", `{"type":"ping","client_ref":"m","x":${deep(64)}}`, "bad_request", undefined],
    ["far too deep", deep(5_000_000), "bad_request", undefined],
    ["with a __proto__ key", '{"type":"ping","__proto__":{"type":"x"}}', "bad_request", undefined],
    ["with an escaped __proto__ key", '{"type":"ping","\\u005f_proto__":{}}', "bad_request", undefined],
  ];

  it.each(rows)(
    "answers a frame that is %s with an error, and goes on",
    async (_what, frame, code, field) => {
      app = await startTestApp();
      const socket = await openSocket(app.base);
      socket.send(frame);
      const error = await socket.waitFor((message) => message.type === "error");
      expect(error).toMatchObject({ code, ...(field === undefined ? {} : { field }) });
      if (typeof frame === "string" && frame.includes('"client_ref":"m"') && code === "invalid_field")
        expect(error.client_ref).toBe("m");
      expect(await socket.command({ type: "ping" })).toMatchObject({ type: "pong" });
      expect(app.engine.calls).toEqual([]);
    },
  );

  it("takes JSON that nests 64 deep, brackets inside strings not counted", async () => {
    app = await startTestApp();
    const socket = await openSocket(app.base);
    expect(await socket.command({ type: "ping", x: JSON.parse(deep(63)) })).toMatchObject({ type: "pong" });
    const text = `\\"${"[{".repeat(200)}`;
    expect(await socket.command({ type: "prompt", text })).toMatchObject({ type: "ack" });
    expect(app.engine.calls).toEqual([`prompt ${text}`]);
  });

  it("closes with 4400 at the twentieth malformed frame in a minute", async () => {
    app = await startTestApp();
    const socket = await openSocket(app.base);
    for (let n = 1; n < manyMalformed; n += 1) socket.send("nonsense");
    expect(await socket.command({ type: "ping" })).toMatchObject({ type: "pong" });
    socket.send("nonsense");
    expect((await socket.closed).code).toBe(4400);
  });

  it("bears unknown types, which a newer client may send", async () => {
    app = await startTestApp();
    const socket = await openSocket(app.base);
    for (let n = 0; n < 2 * manyMalformed; n += 1) socket.send('{"type":"from_the_future"}');
    expect(await socket.command({ type: "ping" })).toMatchObject({ type: "pong" });
  });

  it("closes only the socket that sent an oversize frame, with 1009", async () => {
    app = await startTestApp();
    const bystander = await openSocket(app.base);
    const socket = await openSocket(app.base);
    socket.send("x".repeat(16 * 1024 * 1024 + 1));
    expect((await socket.closed).code).toBe(1009);
    expect(await bystander.command({ type: "ping" })).toMatchObject({ type: "pong" });
  });

  it.each([
    ["an unmasked frame", Buffer.from([0x81, 0x02, 0x7b, 0x7d]), 1002],
    ["a reserved opcode", Buffer.from([0x83, 0x80, 0, 0, 0, 0]), 1002],
    ["invalid UTF-8", Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xff]), 1007],
    ["a length over 16 MiB, with nothing behind it", Buffer.from([0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0]), 1009],
  ])("survives %s", async (_what, bytes, code) => {
    app = await startTestApp();
    const { socket, received } = await rawSocket(app);
    socket.write(bytes);
    await gone(socket);
    const frames = received();
    expect(frames.readUInt16BE(frames.length - 2)).toBe(code);
    await expect.poll(() => app.registry.count).toBe(0);
    expect(app.logged).toEqual([]);
  });
});

describe("floods", () => {
  it("refuses more than a hundred commands a second with rate_limited, in order, and runs none of them", async () => {
    app = await startTestApp();
    const socket = await openSocket(app.base);
    for (let n = 0; n < 300; n += 1)
      socket.send(JSON.stringify({ type: "cancel", agent: "a", client_ref: `c${n}` }));
    await socket.waitFor((message) => message.client_ref === "c299");
    const replies = socket.messages.filter((message) => message.client_ref !== undefined);
    expect(replies.map((message) => message.client_ref)).toEqual(replies.map((_, n) => `c${n}`));
    const refused = replies.filter((message) => message.code === "rate_limited");
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBe(300 - app.engine.calls.length);
    expect(refused[0].retry_after).toBe(1);
  });

  it("closes with 4429 and says when to come back if the flood goes on", async () => {
    app = await startTestApp();
    const bystander = await openSocket(app.base);
    const socket = await openSocket(app.base);
    for (let n = 0; n < 6_000; n += 1) socket.send('{"type":"ping"}');
    const { code, reason } = await socket.closed;
    expect(code).toBe(4429);
    expect(JSON.parse(reason).retry_after).toBeGreaterThan(0);
    expect(await bystander.command({ type: "ping" })).toMatchObject({ type: "pong" });
  });

  it("closes a flood of control frames too", async () => {
    app = await startTestApp();
    const socket = await openSocket(app.base);
    for (let n = 0; n < 500; n += 1) socket.ws.pong();
    expect((await socket.closed).code).toBe(4429);
  });

  it("does not count who reads a job chunk by chunk and waits for each", async () => {
    app = await startTestApp();
    const socket = await openSocket(app.base);
    for (let n = 0; n < 300; n += 1)
      expect(await socket.command({ type: "job_output", job: job.id, offset: n })).toMatchObject({
        offset: n,
      });
  });

  it("counts reads that do not wait", async () => {
    app = await startTestApp();
    const socket = await openSocket(app.base);
    for (let n = 0; n < 1_000; n += 1) socket.send(JSON.stringify({ type: "job_output", job: job.id }));
    await socket.waitFor((message) => message.code === "rate_limited");
  });
});

describe("a client that does not read", () => {
  const megabyte = "x".repeat(1024 * 1024);

  it("never holds more than its queue, and gets lagged once when it reads again", async () => {
    app = await startTestApp();
    const { socket, received } = await rawSocket(app);
    socket.pause();
    const held = app.socketOf(socket);
    if (!held) throw new Error("no socket");
    for (let n = 0; n < 300; n += 1) {
      app.changeLog.append({ type: "notice", message: megabyte });
      if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
      expect(held.writableLength).toBeLessThanOrEqual(2 * 1024 * 1024);
    }
    socket.resume();
    await expect.poll(() => received().includes('"type":"lagged"'), { timeout: 60_000 }).toBe(true);
    const text = received().toString("latin1");
    expect(text.match(/"type":"lagged"/g)).toHaveLength(1);
    expect(text).toContain(`{"type":"lagged","rev":${app.changeLog.rev}}`);
    expect(text.length).toBeLessThan(40 * 1024 * 1024);
    const next = app.changeLog.append({ type: "notice", message: "again live" });
    await expect.poll(() => received().includes(`"message":"again live","rev":${next}`)).toBe(true);
  });

  it("loses no reply: its further commands stay unread until it takes the answers", async () => {
    app = await startTestApp({ maxQueueBytes: 256 * 1024 });
    const { socket, received } = await rawSocket(app);
    socket.pause();
    const wanted = 90;
    for (let n = 0; n < wanted; n += 1)
      socket.write(
        maskedText(JSON.stringify({ type: "job_output", job: job.id, offset: n, limit: 500_000 })),
      );
    await expect.poll(() => app.socketOf(socket)?.isPaused()).toBe(true);
    expect(app.socketOf(socket)?.writableLength).toBeLessThanOrEqual(1024 * 1024);
    socket.resume();
    await expect
      .poll(
        () =>
          received()
            .toString("latin1")
            .match(/"offset":\d+/g)?.length,
        { timeout: 60_000 },
      )
      .toBe(wanted);
    const offsets = received()
      .toString("latin1")
      .match(/"offset":\d+/g);
    expect(offsets).toEqual(Array.from({ length: wanted }, (_, n) => `"offset":${n}`));
  });

  it("is closed when it neither reads nor answers pings", async () => {
    const timing = { pingIntervalMs: 40, revokeGraceMs: 250, closeGraceMs: 200 };
    app = await startTestApp({ timing });
    const quiet = await rawSocket(app);
    await once(quiet.socket, "close");
    const frames = quiet.received();
    expect(frames.readUInt16BE(frames.indexOf(Buffer.from([0x88])) + 2)).toBe(4408);

    const stuck = await rawSocket(app);
    const held = app.socketOf(stuck.socket);
    stuck.socket.pause();
    for (let n = 0; n < 20; n += 1) app.changeLog.append({ type: "notice", message: megabyte });
    await expect.poll(() => app.registry.count).toBe(0);
    await expect.poll(() => held?.destroyed).toBe(true);
  });

  it("stays while it sends a large frame, in which it cannot answer pings", async () => {
    const timing = { pingIntervalMs: 50, revokeGraceMs: 250, closeGraceMs: 200 };
    app = await startTestApp({ timing });
    const { socket, received } = await rawSocket(app);
    const piece = Buffer.alloc(64 * 1024, 0x20);
    const pieces = 60;
    const header = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    header.writeUInt32BE(pieces * piece.length + 15, 6);
    socket.write(header);
    for (let n = 0; n < pieces; n += 1) {
      socket.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    socket.write('{"type":"ping"}');
    await expect.poll(() => received().includes('"type":"pong"')).toBe(true);
  });

  it("stays when it answers pings", async () => {
    const timing = { pingIntervalMs: 25, revokeGraceMs: 250, closeGraceMs: 200 };
    app = await startTestApp({ timing });
    const socket = await openSocket(app.base);
    for (let pings = 0; pings < 6; pings += 1) await once(socket.ws, "ping");
    expect(await socket.command({ type: "ping" })).toMatchObject({ type: "pong" });
  });
});

describe("the end of a lease", () => {
  it("closes with 4401 ahead of what waits, drops queued commands and sends nothing more", async () => {
    const lease = deviceLease();
    app = await startTestApp({ lease });
    let release: () => void = () => undefined;
    app.engine.hold = new Promise((resolve) => {
      release = resolve;
    });
    const socket = await openSocket(app.base);
    for (let n = 0; n < 10; n += 1) socket.send(JSON.stringify({ type: "prompt", text: String(n) }));
    await expect.poll(() => app.sockets[0]?.bytesRead ?? 0).toBeGreaterThan(500);
    lease.end("revoked");
    app.changeLog.append({ type: "notice", message: "after the revoke" });
    release();
    expect(await socket.closed).toEqual({ code: 4401, reason: "revoked" });
    expect(JSON.stringify(socket.messages)).not.toContain("after the revoke");
    expect(app.engine.calls).toEqual([]);
    expect(app.registry.count).toBe(0);
  });

  it("reaches a client that reads slowly: no change that waited follows", async () => {
    const lease = deviceLease();
    app = await startTestApp({ lease });
    const { socket } = await rawSocket(app);
    socket.pause();
    const chunk = "x".repeat(64 * 1024);
    for (let n = 0; n < 300; n += 1) app.changeLog.append({ type: "notice", message: chunk });
    const server = app.socketOf(socket);
    if (!server) throw new Error("no socket");
    lease.end("expired");
    expect(server.writableLength).toBeLessThan(256 * 1024);
    await gone(server);
    expect(app.registry.count).toBe(0);
  });

  it("ends all sockets of the device at once, and none is sent the news of the others", async () => {
    const lease = deviceLease();
    app = await startTestApp({ lease });
    const sockets = [];
    for (let n = 0; n < 200; n += 1) sockets.push(await rawSocket(app));
    const { rev } = app.changeLog;
    lease.end("revoked");
    await Promise.all(app.sockets.map((socket) => (socket.destroyed ? null : gone(socket))));
    expect(app.registry.count).toBe(0);
    await expect.poll(() => app.changeLog.rev).toBe(rev + 1);
    for (const { received } of sockets) {
      const text = received().toString("latin1");
      expect(text.slice(text.lastIndexOf("\x88"))).toContain("revoked");
      expect(text).not.toContain(`"rev":${rev + 1}`);
    }
  });

  it("closes at once a socket whose lease ended during the handshake", async () => {
    const lease = deviceLease();
    lease.end("revoked");
    app = await startTestApp({ lease });
    const { socket, received } = await rawSocket(app);
    await gone(socket);
    expect(received().includes("snapshot")).toBe(false);
    expect(app.registry.count).toBe(0);
  });

  it("refuses a command once the expiry has passed, announced or not", async () => {
    let now = 1_000;
    const lease = { ...deviceLease(), expiresAtMs: 2_000 };
    app = await startTestApp({ lease, now: () => now });
    const socket = await openSocket(app.base);
    now = 2_000;
    socket.send('{"type":"prompt","text":"late"}');
    expect(await socket.closed).toEqual({ code: 4401, reason: "expired" });
    expect(app.engine.calls).toEqual([]);
  });
});

describe("closing from our side", () => {
  it("closes remote sockets with 4403 when exposure goes off, and leaves local ones", async () => {
    app = await startTestApp();
    const remote = await openSocket(app.base);
    app.caller.requestClass = "local";
    const local = await openSocket(app.base);
    app.registry.closeRemote();
    expect((await remote.closed).code).toBe(4403);
    expect(await local.command({ type: "ping" })).toMatchObject({ type: "pong" });
  });

  it("sends shutdown, lets it drain and closes with 1001", async () => {
    app = await startTestApp();
    const socket = await openSocket(app.base);
    const { socket: stuck } = await rawSocket(app);
    stuck.pause();
    for (let n = 0; n < 30; n += 1) app.changeLog.append({ type: "notice", message: "x".repeat(500_000) });
    app.changeLog.append({ type: "shutdown", restart: true });
    const gone = app.registry.shutdown(1_500);
    expect((await socket.closed).code).toBe(1001);
    expect(socket.messages.some((message) => message.type === "shutdown" && message.restart)).toBe(true);
    await gone;
    expect(app.registry.count).toBe(0);
  });
});

/** Resolves when a socket has closed, however. */
function gone(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

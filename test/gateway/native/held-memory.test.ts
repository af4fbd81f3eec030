import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { openSocket } from "../../helpers/socket.ts";
import { job, startTestApp, type TestApp } from "../harness.ts";
import { maskedText, rawSocket } from "./raw-socket.ts";

const mebibyte = 1024 * 1024;
const pieceBytes = mebibyte;

let app: TestApp;
afterEach(() => app.close());

/** The beginning of a frame of 16 MiB. */
function beginOfFrame(): Buffer {
  const frame = Buffer.alloc(14 + pieceBytes, 0x20);
  frame.set([0x81, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
  return frame;
}

/** Code of the close frame at the end of what a client got; null without one. */
function closeCodeIn(received: Buffer): number | null {
  const at = received.lastIndexOf(Buffer.from([0x88]));
  return at < 0 ? null : received.readUInt16BE(at + 2);
}

describe("what one device makes the daemon hold with many sockets", () => {
  it("ends the sockets whose half-sent frames would pass its share, and no other", async () => {
    const most = 3;
    const maxBytes = most * pieceBytes;
    app = await startTestApp({ incoming: { maxBytes: 2 * maxBytes, maxHolderBytes: maxBytes } });
    const bystander = await openSocket(app.base);
    const senders = [];
    for (let n = 0; n < most; n += 1) {
      const sender = await rawSocket(app);
      sender.socket.write(beginOfFrame());
      await expect.poll(() => app.socketOf(sender.socket)?.bytesRead ?? 0).toBeGreaterThan(pieceBytes);
      senders.push(sender);
    }
    const over = await rawSocket(app);
    over.socket.write(beginOfFrame());
    await once(over.socket, "close");
    expect(closeCodeIn(over.received())).toBe(4429);
    expect(await bystander.command({ type: "ping" })).toMatchObject({ type: "pong" });
    expect(app.registry.count).toBe(most + 1);

    for (const { socket } of senders) socket.destroy();
    await expect.poll(() => app.registry.count).toBe(1);
    const next = await rawSocket(app);
    next.socket.write(beginOfFrame());
    await expect.poll(() => app.socketOf(next.socket)?.bytesRead ?? 0).toBeGreaterThan(pieceBytes);
    expect(app.registry.count).toBe(2);
    next.socket.destroy();
  });

  it("counts large frames for as long as they are half sent only", async () => {
    app = await startTestApp({ incoming: { maxBytes: 2 * mebibyte, maxHolderBytes: 2 * mebibyte } });
    const socket = await openSocket(app.base);
    const text = `{"type":"ping","x":"${"x".repeat(mebibyte)}"}`;
    for (let n = 0; n < 6; n += 1) {
      socket.send(text);
      await expect.poll(() => socket.messages.filter(({ type }) => type === "pong").length).toBe(n + 1);
    }
  });

  it("ends sockets whose unread replies would pass its share, and goes on for those that read", async () => {
    app = await startTestApp({ outgoing: { maxBytes: mebibyte, maxHolderBytes: mebibyte } });
    const bystander = await openSocket(app.base);
    const deaf = await rawSocket(app);
    deaf.socket.pause();
    for (let n = 0; n < 60; n += 1)
      deaf.socket.write(maskedText(`{"type":"job_output","job":"${job.id}","offset":${n},"limit":500000}`));
    await expect.poll(() => app.registry.count).toBe(1);
    expect(await bystander.command({ type: "ping" })).toMatchObject({ type: "pong" });
  });
});

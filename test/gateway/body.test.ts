import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readBody } from "../../src/gateway/body.ts";
import { createHeldBytes } from "../../src/gateway/held-bytes.ts";

const timing = { timeoutMs: 5_000, progressBytes: 16 * 1024 };

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function start(authenticated: boolean, headers: IncomingMessage["headers"] = {}) {
  const request = new IncomingMessage(new Socket());
  request.headers = headers;
  const held = createHeldBytes({ maxBytes: 1_000_000, maxHolderBytes: 1_000_000 });
  const share = held.share("device");
  const outcome = readBody(request, { maxBytes: 1_000_000, authenticated, share, timing }).then(
    (bytes) => bytes.toString(),
    (error) => error.code,
  );
  return { request, outcome, held };
}

/** Sends `bytes` once a second for `seconds`. */
async function drip(request: IncomingMessage, bytes: number, seconds: number) {
  for (let second = 0; second < seconds; second += 1) {
    request.push("x".repeat(bytes));
    await vi.advanceTimersByTimeAsync(1_000);
  }
}

describe("reading a body", () => {
  it("takes an authenticated body for as long as 16 KiB arrive every five seconds", async () => {
    const { request, outcome } = start(true);
    await drip(request, 4 * 1024, 60);
    request.push(null);
    expect((await outcome).length).toBe(60 * 4 * 1024);
  });

  it("refuses an authenticated body that becomes slower than that", async () => {
    const { request, outcome } = start(true);
    await drip(request, 8 * 1024, 10);
    await drip(request, 1_024, 5);
    expect(await outcome).toBe("bad_request");
    expect(request.socket.destroyed).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(request.socket.destroyed).toBe(true);
  });

  it("refuses an unauthenticated body after five seconds in all", async () => {
    const { request, outcome } = start(false);
    await drip(request, 64 * 1024, 5);
    expect(await outcome).toBe("bad_request");
  });

  it("refuses what breaks off", async () => {
    const { request, outcome } = start(true, { "content-length": "10" });
    request.push("x");
    await vi.advanceTimersByTimeAsync(1);
    request.destroy();
    expect(await outcome).toBe("bad_request");
  });

  it("gives back what it held, whatever becomes of it", async () => {
    const { request, outcome, held } = start(true);
    const other = held.share("other");
    await drip(request, 20_000, 3);
    expect(other.set(950_000)).toBe(false);
    request.push(null);
    await outcome;
    expect(other.set(1_000_000)).toBe(true);
  });

  it("does not let a million chunks of a byte take more room than their bytes", async () => {
    const { request, outcome } = start(true);
    for (let n = 0; n < 100_000; n += 1) request.push(n % 2 === 0 ? "a" : "b");
    request.push(null);
    expect(await outcome).toBe("ab".repeat(50_000));
  });
});

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDeliver, type DeliverOptions, type Parcel } from "../../src/push/deliver.ts";
import { newVapidKeys } from "../../src/push/push-file.ts";
import { type PushService, startPushService } from "../helpers/push-service.ts";

// The certificate of the test's push service is trusted for the TLS of this process only where a test says so.
const vapid = newVapidKeys();
let service: PushService;
let insecureTls: string | undefined;

beforeEach(async () => {
  insecureTls = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  service = await startPushService();
});
afterEach(async () => {
  if (insecureTls === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  else process.env.NODE_TLS_REJECT_UNAUTHORIZED = insecureTls;
  await service.close();
});

function parcel(endpoint: string, more: Partial<Parcel> = {}): Parcel {
  const { keys } = service.newBrowser().subscription;
  return {
    subscription: {
      id: "01a17453-000b-7000-8000-00000000000b",
      device: "01a17453-000a-7000-8000-00000000000a",
      endpoint,
      p256dh: keys.p256dh,
      auth_secret: keys.auth,
      kinds: ["requests"],
      created: "2026-11-30T12:00:00.000Z",
    },
    payload: '{"id":"x"}',
    urgent: true,
    topic: "topic",
    vapid,
    contact: "mailto:me@box.example",
    insecurePrivateEndpoints: false,
    signal: new AbortController().signal,
    ...more,
  };
}
const deliverWith = (options: Partial<DeliverOptions> = {}) =>
  createDeliver({ now: Date.now, timeoutMs: 30_000, ...options });
const resolvesTo =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

/** Something on loopback that must never be spoken to. */
async function trap() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    close: () => server.close(),
  };
}

describe("a push to a name that leads into this network", () => {
  it.each([
    ["loopback", ["127.0.0.1"]],
    ["the metadata service", ["169.254.169.254"]],
    ["a private address behind a public one", ["142.250.185.106", "10.0.0.1"]],
    ["IPv6 loopback", ["::1"]],
    ["a mapped address", ["::ffff:127.0.0.1"]],
    ["loopback by NAT64", ["64:ff9b::7f00:1"]],
    ["a zone", ["fe80::1%eth0"]],
    ["no address at all", ["not-an-address"]],
  ])("is not sent: %s", async (_, addresses) => {
    const outcome = await deliverWith({ resolve: resolvesTo(...addresses) })(
      parcel("https://push.example.com/x"),
    );
    expect(outcome).toMatchObject({
      kind: "failed",
      problem: "push.example.com leads to an address that is not public",
    });
  });

  it("is not led elsewhere by rebinding: the name is resolved once, and what was judged is connected to", async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    const asked: string[] = [];
    const deliver = deliverWith({
      // Whoever asked a second time would be led elsewhere.
      resolve: async (host) => {
        asked.push(host);
        return [{ address: asked.length === 1 ? "127.0.0.1" : "127.0.0.9", family: 4 }];
      },
    });
    const { subscription } = service.newBrowser();
    const endpoint = new URL(subscription.endpoint);
    endpoint.hostname = "push.example.com";
    const base = parcel(endpoint.href, { insecurePrivateEndpoints: true });
    const { p256dh, auth: auth_secret } = subscription.keys;
    const outcome = await deliver({ ...base, subscription: { ...base.subscription, p256dh, auth_secret } });
    expect(outcome).toEqual({ kind: "accepted" });
    expect(asked).toEqual(["push.example.com"]);
    expect(service.received[0]?.headers.host).toBe(endpoint.host);
  });

  it("is not sent to an endpoint that was let in by a setting that is gone", async () => {
    const door = await trap();
    const outcome = await deliverWith()(parcel(`https://127.0.0.1:${door.port}/x`));
    expect(outcome).toMatchObject({ kind: "failed", problem: expect.stringContaining("IP address") });
    expect(door.connections()).toBe(0);
    door.close();
  });

  it("gives up on a resolver that does not answer", async () => {
    const outcome = await deliverWith({ timeoutMs: 50, resolve: () => new Promise(() => undefined) })(
      parcel("https://push.example.com/x"),
    );
    expect(outcome).toMatchObject({ problem: expect.stringContaining("takes too long") });
  });
});

describe("the answer of a push service", () => {
  /** Sends to the test's service under its own address, with its certificate. */
  async function push(
    answer: (request: IncomingMessage, response: ServerResponse) => void,
    timeoutMs = 30_000,
  ) {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    service.answerWith(answer);
    const { subscription } = service.newBrowser();
    const base = parcel(subscription.endpoint, { insecurePrivateEndpoints: true });
    return deliverWith({ timeoutMs })({
      ...base,
      subscription: {
        ...base.subscription,
        p256dh: subscription.keys.p256dh,
        auth_secret: subscription.keys.auth,
      },
    });
  }

  it("is read as what became of the message, whose bytes only the browser can read", async () => {
    const outcome = await push((_request, response) => response.writeHead(201).end());
    expect(outcome).toEqual({ kind: "accepted" });
    expect(service.received[0]).toMatchObject({
      payload: { id: "x" },
      claims: { aud: service.origin, sub: "mailto:me@box.example" },
      publicKey: vapid.public_key,
    });
  });

  it("is not followed when it is a redirect", async () => {
    const door = await trap();
    const location = `https://127.0.0.1:${door.port}/latest/meta-data/`;
    const outcome = await push((_request, response) => response.writeHead(307, { location }).end());
    expect(outcome).toMatchObject({ kind: "failed", problem: "the push service answered 307" });
    expect(door.connections()).toBe(0);
    door.close();
  });

  it("is not read beyond its head, however large it is", async () => {
    let socket: Socket | null = null;
    const outcome = await push((request, response) => {
      socket = request.socket;
      response.writeHead(500, { "content-length": 10 ** 12 });
      response.write(Buffer.alloc(1024 * 1024));
    });
    expect(outcome).toMatchObject({ kind: "failed", problem: "the push service answered 500" });
    await expect.poll(() => socket?.destroyed).toBe(true);
  });

  it("is refused when its head is too large", async () => {
    const outcome = await push((_request, response) =>
      response.writeHead(201, { filler: "x".repeat(32 * 1024) }).end(),
    );
    expect(outcome).toMatchObject({
      kind: "failed",
      problem: expect.stringContaining("HPE_HEADER_OVERFLOW"),
    });
  });

  it("is not waited for longer than the time-out, also when bytes drip", async () => {
    const outcome = await push((request) => {
      request.socket.write("HTTP/1.1 201 Crea");
    }, 200);
    expect(outcome).toMatchObject({ kind: "failed", problem: "127.0.0.1 does not answer" });
  });

  it("does not matter any more when the subscription ended on the way", async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    const ending = new AbortController();
    service.answerWith(() => ending.abort());
    const { subscription } = service.newBrowser();
    const base = parcel(subscription.endpoint, { insecurePrivateEndpoints: true, signal: ending.signal });
    const outcome = await deliverWith()({
      ...base,
      subscription: {
        ...base.subscription,
        p256dh: subscription.keys.p256dh,
        auth_secret: subscription.keys.auth,
      },
    });
    expect(outcome.kind).toBe("failed");
  });

  it("counts only over TLS with a certificate of that name", async () => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    const { subscription } = service.newBrowser();
    const outcome = await deliverWith()(parcel(subscription.endpoint, { insecurePrivateEndpoints: true }));
    expect(outcome).toMatchObject({ kind: "failed", problem: expect.stringContaining("DEPTH_ZERO") });
    expect(service.requests).toBe(0);
  });

  it("never brings the endpoint into the text that is shown", async () => {
    const { subscription } = service.newBrowser();
    const secretPath = new URL(subscription.endpoint).pathname;
    for (const insecurePrivateEndpoints of [true, false]) {
      const outcome = await deliverWith()(parcel(subscription.endpoint, { insecurePrivateEndpoints }));
      expect(JSON.stringify(outcome)).not.toContain(secretPath);
    }
  });
});

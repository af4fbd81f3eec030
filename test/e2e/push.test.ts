import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { disposeDaemons, startTestDaemon, type TestDaemon, temporaryHome } from "../helpers/daemon.ts";
import { type Answer, request } from "../helpers/http.ts";
import { type PushService, pushCertificatePath, startPushService } from "../helpers/push-service.ts";
import { type Message, openSocket, type TestSocket } from "../helpers/socket.ts";

const env = { NODE_EXTRA_CA_CERTS: pushCertificatePath };
const config =
  "[push]\nafter_seconds = 1\ninsecure_private_endpoints = true\n[rules]\nallow = ['bash(sleep *)', 'bash(true)']\n";

describe("notifications, through a real daemon and a push service on loopback", () => {
  let home: string;
  let folder: string;
  let daemon: TestDaemon;
  let desk: TestSocket;
  let service: PushService;

  beforeAll(async () => {
    home = await temporaryHome();
    folder = await mkdtemp(join(tmpdir(), "sallyport-push-"));
    service = await startPushService();
    daemon = await startTestDaemon({ home, cwd: folder, config, env });
    desk = await openSocket(daemon.url, { token: daemon.token });
  });
  afterAll(async () => {
    await disposeDaemons();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  interface Phone {
    readonly id: string;
    call(method: string, path: string, body?: unknown): Promise<Answer>;
  }
  // A page of this machine: with remote access off no other device could ask what a push is about.
  async function phone(scopes: readonly string[] | null = null): Promise<Phone> {
    await daemon.request("POST", "/api/remote", { body: { access: "off" } });
    const paired =
      scopes === null
        ? await request(daemon.url, "POST", "/api/pair", {
            body: {
              ticket: (await daemon.request("POST", "/api/ws/ticket", { body: { purpose: "page" } })).json
                .ticket,
              name: "page",
            },
          })
        : await request(daemon.url, "POST", "/api/pair", {
            body: {
              code: (await daemon.request("POST", "/api/pair/codes", { body: { scopes } })).json.code,
              name: scopes.join(" "),
            },
          });
    const { token, device } = paired.json;
    return {
      id: device.id,
      call: (method, path, body) =>
        request(daemon.url, method, path, { token, ...(body === undefined ? {} : { body }) }),
    };
  }
  async function subscribed(kinds?: readonly string[]) {
    const device = await phone();
    const browser = service.newBrowser();
    const answer = await device.call("POST", "/api/push", {
      ...browser.subscription,
      ...(kinds ? { kinds } : {}),
    });
    expect(answer.status).toBe(200);
    return { device, browser, subscription: answer.json };
  }
  async function ask(command: string): Promise<Message> {
    const { turn } = await desk.command({ type: "prompt", text: command });
    const found = await desk.waitFor(
      (message) =>
        message.type === "event" &&
        message.event.type === "permission_requested" &&
        message.event.turn === turn,
    );
    return found.event;
  }
  const decide = (request_id: string, decision: string) =>
    desk.command({ type: "approve", request_id, decision });

  it("sends what was left unanswered, and what was answered elsewhere", async () => {
    const { device, browser } = await subscribed(["requests"]);
    const state = (await device.call("GET", "/api/push")).json;
    const asked = await ask("echo from-afar > told.txt");
    const push = await service.next();
    expect(push.path).toBe(new URL(browser.subscription.endpoint).pathname);
    expect(push.publicKey).toBe(state.public_key);
    expect(push.claims).toMatchObject({ aud: service.origin, sub: expect.stringMatching(/^https:/) });
    expect(push.claims.exp * 1_000).toBeLessThan(Date.now() + 24 * 60 * 60_000);
    expect(push.headers).toMatchObject({
      ttl: "43200",
      urgency: "high",
      "content-encoding": "aes128gcm",
      topic: expect.stringMatching(/^[\w-]{24}$/),
    });
    expect(push.payload).toEqual({ id: expect.stringMatching(/^[0-9a-f]{32}$/) });
    const path = `/api/push/messages/${push.payload.id}`;
    const message = (await device.call("GET", path)).json;
    expect(message).toEqual({
      notifications: [
        {
          kind: "permission",
          tag: `request-${asked.request_id}`,
          workspace: asked.workspace,
          tab: asked.tab,
          agent: asked.agent,
          tab_name: expect.any(String),
          agent_name: expect.any(String),
          request_id: asked.request_id,
          tool: "bash",
          summary: "echo from-afar > told.txt",
          cwd: asked.cwd,
          digest: asked.digest,
          decisions: ["allow", "deny"],
        },
      ],
      more: 0,
      open: [`request-${asked.request_id}`],
    });
    expect((await device.call("GET", path)).json).toEqual(message);
    await decide(asked.request_id, "deny");
    const cleared = await service.next();
    expect(cleared.bytes).toBe(push.bytes);
    expect(cleared.headers.topic).toBe(push.headers.topic);
    const after = await device.call("GET", `/api/push/messages/${cleared.payload.id}`);
    expect(after.json).toEqual({ notifications: [], more: 0, open: [] });
    await device.call("DELETE", `/api/devices/${device.id}`);
  });

  it("lets a notification allow the very call that it showed, once", async () => {
    const { device } = await subscribed(["requests"]);
    const asked = await ask("echo allowed > allowed.txt");
    const push = await service.next();
    const { notifications } = (await device.call("GET", `/api/push/messages/${push.payload.id}`)).json;
    const [shown] = notifications;
    const approve = { type: "approve", request_id: shown.request_id, decision: "allow" };
    const other = await device.call("POST", "/api/command", { ...approve, digest: "of-another-call" });
    expect([other.status, other.json.reason]).toEqual([409, "changed"]);
    const answer = await device.call("POST", "/api/command", { ...approve, digest: shown.digest });
    expect(answer.status).toBe(200);
    const again = await device.call("POST", "/api/command", { ...approve, digest: shown.digest });
    expect([again.status, again.json.reason]).toEqual([409, "already_resolved"]);
    await desk.waitFor(
      (message) =>
        message.type === "event" &&
        message.event.type === "turn_finished" &&
        message.event.turn === asked.turn,
    );
    expect(await readFile(join(folder, "allowed.txt"), "utf8")).toBe("allowed\n");
    await device.call("DELETE", `/api/devices/${device.id}`);
  });

  it("gives another device neither a message nor a subscription", async () => {
    const { device, subscription } = await subscribed(["requests"]);
    const asked = await ask("echo x > other.txt");
    const { payload } = await service.next();
    const stranger = await phone();
    for (const [method, path] of [
      ["GET", `/api/push/messages/${payload.id}`],
      ["GET", `/api/push/messages/${"0".repeat(32)}`],
      ["GET", "/api/push/messages/x"],
      ["DELETE", `/api/push/${subscription.id}`],
      ["DELETE", "/api/push/x"],
    ] as const)
      expect((await stranger.call(method, path)).json).toMatchObject({ code: "not_found" });
    expect((await daemon.request("GET", `/api/push/messages/${payload.id}`)).json).toMatchObject({
      code: "not_supported",
    });
    expect((await device.call("GET", `/api/push/messages/${payload.id}`)).json.notifications).toHaveLength(1);
    await decide(asked.request_id, "deny");
    await service.next();
    for (const { call, id } of [device, stranger]) await call("DELETE", `/api/devices/${id}`);
  });

  it("tells a turn to the device that asked for it, and not what somebody else watched", async () => {
    const { device } = await subscribed(["turns"]);
    const { device: watcher } = await subscribed(["turns"]);
    const agent = (await desk.command({ type: "agent_start" })).agent;
    await device.call("POST", "/api/command", { type: "prompt", agent, text: "true" });
    const push = await service.next();
    expect(push.headers.urgency).toBe("normal");
    const { notifications } = (await device.call("GET", `/api/push/messages/${push.payload.id}`)).json;
    expect(notifications).toMatchObject([{ kind: "turn", agent, outcome: "done" }]);
    const late = service.requests;
    await desk.command({ type: "prompt", agent, text: "sleep 1.2" });
    const both = await Promise.all([service.next(), service.next()]);
    expect(new Set(both.map(({ path }) => path)).size).toBe(2);
    expect(service.requests).toBe(late + 2);
    for (const { call, id } of [device, watcher]) await call("DELETE", `/api/devices/${id}`);
  });

  it("never reaches a device again that was revoked, or that lost view for a moment", async () => {
    const { device: revoked } = await subscribed(["requests"]);
    const { device: blinded } = await subscribed(["requests"]);
    const { device: left, browser } = await subscribed(["requests"]);
    const asked = await ask("echo gone > gone.txt");
    await daemon.request("DELETE", `/api/devices/${revoked.id}`);
    const scopes = (list: readonly string[]) =>
      daemon.request("PATCH", `/api/devices/${blinded.id}`, { body: { scopes: list } });
    expect((await scopes(["approve"])).status).toBe(200);
    expect((await scopes(["view", "approve"])).status).toBe(200);
    expect((await blinded.call("GET", "/api/push")).json.subscriptions).toEqual([]);
    const push = await service.next();
    expect(push.path).toBe(new URL(browser.subscription.endpoint).pathname);
    await left.call("GET", `/api/push/messages/${push.payload.id}`);
    const before = service.requests;
    await decide(asked.request_id, "deny");
    expect((await service.next()).path).toBe(push.path);
    expect(service.requests).toBe(before + 1);
    const file = JSON.parse(await readFile(join(home, "push.json"), "utf8"));
    expect(file.subscriptions.map((each: { device: string }) => each.device)).toEqual([left.id]);
    await left.call("DELETE", `/api/devices/${left.id}`);
  });

  it("forgets a subscription that its push service does not know any more", async () => {
    const { device } = await subscribed(["requests"]);
    service.answerWith((_request, response) => response.writeHead(410).end());
    const asked = await ask("echo x > x.txt");
    await service.next();
    await expect.poll(async () => (await device.call("GET", "/api/push")).json.subscriptions).toEqual([]);
    service.answerWith((_request, response) => response.writeHead(201).end());
    await decide(asked.request_id, "deny");
    await device.call("DELETE", `/api/devices/${device.id}`);
  });

  it("keeps the file private, and the subscriptions over a restart", async () => {
    const { device, subscription } = await subscribed();
    expect((await stat(join(home, "push.json"))).mode & 0o777).toBe(0o600);
    await desk.close();
    await daemon.stop();
    daemon = await startTestDaemon({ home, cwd: folder, config, env });
    desk = await openSocket(daemon.url, { token: daemon.token });
    const { subscriptions } = (await device.call("GET", "/api/push")).json;
    expect(subscriptions).toMatchObject([{ id: subscription.id, service: new URL(service.origin).host }]);
    const asked = await ask("echo x > y.txt");
    const { payload } = await service.next();
    expect((await device.call("GET", `/api/push/messages/${payload.id}`)).json.notifications).toHaveLength(1);
    expect(daemon.output()).not.toContain(payload.id);
    await decide(asked.request_id, "deny");
    await service.next();
    await device.call("DELETE", `/api/devices/${device.id}`);
  });
});

describe("notifications of a daemon as it is installed", () => {
  afterEach(disposeDaemons);

  const key = service().p256dh;
  function service() {
    return {
      p256dh: "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM",
      auth: "zqbxT6JKstKSY9JKibZLSQ",
    };
  }
  async function device(daemon: TestDaemon, scopes = ["view"]) {
    const { json } = await daemon.request("POST", "/api/pair/codes", { body: { scopes } });
    const paired = await request(daemon.url, "POST", "/api/pair", { body: { code: json.code, name: "x" } });
    return (method: string, path: string, body?: unknown) =>
      request(daemon.url, method, path, {
        token: paired.json.token,
        ...(body === undefined ? {} : { body }),
      });
  }

  it("are off for the master and need view, and refuse every endpoint inside this network", async () => {
    const daemon = await startTestDaemon();
    const master = await daemon.request("GET", "/api/push");
    expect(master.json).toMatchObject({ available: false, public_key: null, subscriptions: [] });
    const body = { endpoint: "https://push.example.com/x", keys: service() };
    expect((await daemon.request("POST", "/api/push", { body })).json.code).toBe("not_supported");
    const blind = await device(daemon, ["drive"]);
    expect((await blind("POST", "/api/push", body)).json.code).toBe("scope_missing");
    const call = await device(daemon);
    for (const endpoint of [
      "http://push.example.com/x",
      "https://127.0.0.1/x",
      "https://127.1/x",
      "https://2130706433/x",
      "https://0x7f.0.0.1/x",
      "https://[::1]/x",
      "https://[::ffff:127.0.0.1]/x",
      "https://169.254.169.254/latest/meta-data/",
      "https://localhost/x",
      "https://box.local/x",
      "https://push.example.com:8443/x",
      "https://me:secret@push.example.com/x",
      "https://8.8.8.8/x",
      "ftp://push.example.com/x",
      "push.example.com",
    ])
      expect((await call("POST", "/api/push", { ...body, endpoint })).json, endpoint).toMatchObject({
        code: "invalid_field",
        field: "endpoint",
      });
    for (const [keys, field] of [
      [{ ...service(), p256dh: `${key.slice(0, -1)}A` }, "keys.p256dh"],
      [{ ...service(), p256dh: "AAAA" }, "keys.p256dh"],
      [{ ...service(), auth: "AAAA" }, "keys.auth"],
      [{ auth: "AAAA" }, "keys.p256dh"],
    ] as const)
      expect((await call("POST", "/api/push", { ...body, keys })).json).toMatchObject({
        code: "invalid_field",
        field,
      });
    expect((await call("POST", "/api/push", { ...body, kinds: ["all"] })).json.code).toBe("invalid_field");
    expect((await call("GET", "/api/push")).json.subscriptions).toEqual([]);
    const mine = await call("POST", "/api/push", body);
    expect(mine.json).toMatchObject({ service: "push.example.com", kinds: ["requests", "turns"] });
    const again = await call("POST", "/api/push", { ...body, kinds: ["turns"] });
    expect(again.json).toMatchObject({ id: mine.json.id, kinds: ["turns"] });
    const stranger = await device(daemon);
    const taken = await stranger("POST", "/api/push", {
      ...body,
      keys: { ...service(), auth: "AAAAAAAAAAAAAAAAAAAAAA" },
    });
    expect([taken.status, taken.json.reason]).toEqual([409, "in_use"]);
    expect((await call("DELETE", `/api/push/${mine.json.id}`)).status).toBe(204);
    expect((await call("DELETE", `/api/push/${mine.json.id}`)).json.code).toBe("not_found");
  });

  it("are off while push.json is damaged or open to others, and leave it as it is", async () => {
    const home = await temporaryHome();
    const path = join(home, "push.json");
    for (const [text, mode, says] of [
      ["{", 0o600, "it is not JSON"],
      ['{"version":1,"vapid":null,"subscriptions":[]}', 0o600, "it is damaged"],
      ['{"version":2}', 0o600, "a newer version"],
      ["{}", 0o644, "chmod 600"],
    ] as const) {
      await rm(path, { force: true });
      await writeFile(path, text, { mode });
      const daemon = await startTestDaemon({ home });
      const call = await device(daemon);
      const state = (await call("GET", "/api/push")).json;
      expect(state).toMatchObject({ available: false, public_key: null });
      expect(state.reason).toContain(says);
      expect(state.reason).toContain(path);
      const refused = await call("POST", "/api/push", {
        endpoint: "https://push.example.com/x",
        keys: service(),
      });
      expect(refused.json).toMatchObject({ code: "not_supported" });
      await daemon.stop();
      expect(await readFile(path, "utf8")).toBe(text);
    }
  });
});

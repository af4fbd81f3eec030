import { beforeEach, describe, expect, it } from "vitest";
import type { PushMessage, PushNotification } from "../../../src/protocol/push.ts";
import { pushRecordKey } from "../../../web/push/push-record.ts";
import {
  handleClick,
  handlePush,
  handleSubscriptionChange,
  type ShownNotification,
  type WorkerScope,
} from "../../../web/push/worker-push.ts";

const base = "https://box.example/sally/";
const id = "5f1d0c2b9a7e4e6f8c3b2a190d7e6f5c";
const place = { workspace: "w", tab: "t", agent: "a", tab_name: "api", agent_name: "tests" };
const permission: PushNotification = {
  kind: "permission",
  ...place,
  tag: "request-r",
  request_id: "r",
  tool: "bash",
  summary: "npm test",
  cwd: "/srv",
  digest: "d",
  decisions: ["allow", "deny"],
};
const turn: PushNotification = {
  kind: "turn",
  ...place,
  tag: "turn-t",
  turn: "t",
  outcome: "failed",
  text: "no",
};
const question: PushNotification = {
  kind: "question",
  ...place,
  tag: "request-q",
  request_id: "q",
  prompts: ["Which?"],
};
const message = (notifications: readonly PushNotification[], more = 0): PushMessage => ({
  notifications: [...notifications],
  more,
  open: notifications.map(({ tag }) => tag),
});

interface Shown extends ShownNotification {
  readonly title: string;
  readonly body: string;
  readonly silent: boolean;
  readonly actions?: readonly { readonly action: string }[];
}

describe("the worker's part of notifications", () => {
  let screen: Map<string, Shown>;
  let calls: { method: string; url: string; body: unknown; authorization: string }[];
  let answers: Map<string, { status: number; body?: unknown } | "offline">;
  let opened: string[];
  let isSubscribed: boolean;
  let stored: Map<string, unknown>;

  beforeEach(() => {
    screen = new Map();
    calls = [];
    answers = new Map();
    opened = [];
    isSubscribed = true;
    stored = new Map();
  });

  const scope = (more: Partial<WorkerScope> = {}): WorkerScope => ({
    base,
    registration: {
      async showNotification(title, options) {
        const { tag, ...rest } = options as Shown;
        screen.set(tag, { tag, ...rest, title, close: () => screen.delete(tag) });
      },
      getNotifications: async () => [...screen.values()],
      pushManager: {
        getSubscription: async () =>
          ({
            unsubscribe: async () => {
              isSubscribed = false;
              return true;
            },
          }) as unknown as PushSubscription,
        subscribe: async () => ({ toJSON: () => ({ endpoint: "new" }) }) as unknown as PushSubscription,
      },
    },
    windows: async () => [],
    async openWindow(url) {
      opened.push(url);
    },
    async fetch(url, { method = "", headers, body }) {
      const { authorization = "" } = headers as Record<string, string>;
      calls.push({ method, url, authorization, body: body ? JSON.parse(String(body)) : undefined });
      const answer = answers.get(`${method} ${url.slice(base.length)}`) ?? { status: 404, body: {} };
      if (answer === "offline") throw new TypeError("Failed to fetch");
      return new Response(JSON.stringify(answer.body ?? {}), { status: answer.status });
    },
    token: async () => "spd_x",
    store: {
      get: async (key) => stored.get(key),
      async set(key, value) {
        stored.set(key, value);
      },
    },
    mustShow: false,
    maxActions: 2,
    ...more,
  });
  const push = (more: Partial<WorkerScope> = {}) => handlePush(scope(more), JSON.stringify({ id }));
  const told = (body: PushMessage) => answers.set(`GET api/push/messages/${id}`, { status: 200, body });
  const onScreen = () => [...screen.values()].map(({ title, body }) => `${title} | ${body}`);
  const window = (visibilityState: string) => ({
    url: `${base}#/jobs`,
    visibilityState,
    focus: async () => opened.push("focus"),
    postMessage: (sent: unknown) => opened.push(JSON.stringify(sent)),
  });

  it("asks with the device's token, and shows each thing in words", async () => {
    told(message([permission, question, turn], 2));
    await push();
    expect(calls).toMatchObject([{ url: `${base}api/push/messages/${id}`, authorization: "Bearer spd_x" }]);
    expect(onScreen()).toEqual([
      "Allow bash? – api | npm test\nin /srv",
      "Question – api | Which?",
      "Failed – tests | no",
      "Sallyport | And 2 more wait for you.",
    ]);
    expect(screen.get("request-r")?.actions).toMatchObject([{ action: "allow" }, { action: "deny" }]);
  });

  it("leaves the buttons away where the system has no room for them, or the device may not decide", async () => {
    told(message([permission]));
    await push({ maxActions: 0 });
    expect(screen.get("request-r")?.actions).toBeUndefined();
    told(message([{ ...permission, decisions: [] }]));
    await push();
    expect(screen.get("request-r")?.actions).toBeUndefined();
  });

  it("takes from the screen what is not open any more", async () => {
    told(message([permission]));
    await push();
    told(message([]));
    await push();
    expect(onScreen()).toEqual([]);
  });

  it("shows nothing while a page is looked at, but for a browser that would end the subscription", async () => {
    told(message([permission]));
    const windows = async () => [window("visible")];
    await push({ windows });
    expect([calls.length, screen.size]).toEqual([0, 0]);
    await push({ windows: async () => [window("hidden")] });
    expect(screen.size).toBe(1);
    screen.clear();
    await push({ windows, mustShow: true });
    expect(screen.size).toBe(1);
    told(message([]));
    await push({ mustShow: true });
    expect([...screen.values()]).toMatchObject([{ body: "Answered elsewhere.", silent: true }]);
  });

  it.each([
    ["offline", "could not be asked"],
    [{ status: 403, body: { code: "remote_off" } }, "could not be asked"],
    [{ status: 200, body: { notifications: "x" } }, "could not be asked"],
    [{ status: 200, body: message([{ ...turn, kind: "poem" } as never]) }, "could not be asked"],
    [{ status: 404 }, "news while this device was away"],
  ] as const)("says that something waits when the answer is %j", async (answer, text) => {
    answers.set(`GET api/push/messages/${id}`, answer);
    await push();
    expect(onScreen().join()).toContain(text);
  });

  it("ends the subscription when the device was revoked, or the browser has no token", async () => {
    answers.set(`GET api/push/messages/${id}`, { status: 401 });
    screen.set("request-old", {
      tag: "request-old",
      close: () => screen.delete("request-old"),
    } as unknown as Shown);
    await push();
    expect([isSubscribed, screen.size]).toEqual([false, 0]);
    isSubscribed = true;
    await push({ token: async () => null });
    expect([isSubscribed, calls.length]).toEqual([false, 1]);
  });

  it.each([null, "", "{}", '{"id":7}', '{"id":"../../x"}', `{"id":"${"g".repeat(32)}"}`, "[]"])(
    "takes no notice of the payload %j",
    async (payload) => {
      await handlePush(scope(), payload);
      expect([calls.length, screen.size]).toEqual([0, 0]);
    },
  );

  async function touched(action: string): Promise<void> {
    told(message([permission]));
    await push();
    const shown = screen.get("request-r");
    if (!shown) throw new Error("nothing is shown");
    await handleClick(scope(), shown, action);
  }

  it("answers with the digest of what was shown, and clears the screen", async () => {
    answers.set("POST api/command", { status: 200, body: { type: "ack" } });
    await touched("allow");
    expect(calls.at(-1)).toMatchObject({
      method: "POST",
      body: { type: "approve", request_id: "r", digest: "d", decision: "allow" },
      authorization: "Bearer spd_x",
    });
    expect(screen.size).toBe(0);
  });

  it.each([
    [{ status: 409, body: { message: "Answered on work laptop." } }, "Answered on work laptop."],
    [{ status: 409, body: { message: "This is not the call that you were shown." } }, "not the call"],
    [{ status: 503, body: null }, "The daemon refused this answer."],
    ["offline", "may not have arrived"],
  ] as const)("says why an answer did not count: %j", async (answer, text) => {
    answers.set("POST api/command", answer);
    await touched("deny");
    expect(onScreen()).toEqual([expect.stringContaining(text)]);
    expect(screen.get("request-r")?.actions).toBeUndefined();
  });

  it("opens the page at the request, in a window that is there or a new one", async () => {
    await touched("");
    expect(opened).toEqual([`${base}#/approvals/r`]);
    opened = [];
    const shown = { tag: "x", data: { path: "/agent/a", request: null }, close: () => undefined };
    await handleClick(scope({ windows: async () => [window("hidden")] }), shown, "");
    expect(opened).toEqual(['{"type":"open","path":"/agent/a"}', "focus"]);
    opened = [];
    await handleClick(scope(), { ...shown, data: null }, "allow");
    expect(opened).toEqual([`${base}#/`]);
    expect(calls.filter(({ method }) => method === "POST")).toEqual([]);
  });

  it("tells the daemon when the browser has renewed the subscription", async () => {
    const record = { id: "old", kinds: ["turns"], public_key: "AAAA" };
    stored.set(pushRecordKey, record);
    answers.set("POST api/push", { status: 200, body: { id: "new" } });
    await handleSubscriptionChange(scope(), null);
    expect(calls.map(({ method, url }) => `${method} ${url.slice(base.length)}`)).toEqual([
      "POST api/push",
      "DELETE api/push/old",
    ]);
    expect(calls[0]?.body).toEqual({ endpoint: "new", kinds: ["turns"] });
    expect(stored.get(pushRecordKey)).toEqual({ ...record, id: "new" });
  });

  it("renews nothing that was never switched on", async () => {
    await handleSubscriptionChange(scope(), null);
    expect(calls).toEqual([]);
  });
});

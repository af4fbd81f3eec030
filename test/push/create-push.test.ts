import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { SallyportError } from "../../src/errors.ts";
import { newId } from "../../src/lib/ids.ts";
import { silentLog } from "../../src/lib/log.ts";
import type { Change } from "../../src/protocol/changes.ts";
import { createPush, type Push } from "../../src/push/create-push.ts";
import type { Parcel } from "../../src/push/deliver.ts";
import type { PushOutcome } from "../../src/push/judge-answer.ts";
import { newVapidKeys, type StoredSubscription } from "../../src/push/push-file.ts";
import type { PushStore } from "../../src/push/push-store.ts";

const accepted: PushOutcome = { kind: "accepted" };
const failed = (retryAfterMs: number | null = null): PushOutcome => ({
  kind: "failed",
  problem: "it answered 503",
  retryAfterMs,
});

/** A store in memory. */
function memoryStore(): PushStore & { readonly map: Map<string, StoredSubscription> } {
  const map = new Map<string, StoredSubscription>();
  const vapid = newVapidKeys();
  return {
    map,
    problem: null,
    list: () => [...map.values()],
    keys: async () => vapid,
    async put(each) {
      map.set(each.id, each);
      return [];
    },
    async remove(ids) {
      for (const id of ids) map.delete(id);
    },
    close: async () => undefined,
  };
}

describe("notifications of subscribed devices", () => {
  const phone = newId();
  const tablet = newId();
  let scopes: Map<string, string[]>;
  let reachable: boolean;
  let store: ReturnType<typeof memoryStore>;
  let sent: Parcel[];
  let outcomes: PushOutcome[];
  let hangs: (parcel: Parcel) => boolean;
  let release: () => void;
  let push: Push;
  let rev = 0;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
    scopes = new Map([
      [phone, ["view", "approve"]],
      [tablet, ["view"]],
    ]);
    reachable = true;
    store = memoryStore();
    sent = [];
    outcomes = [];
    hangs = () => false;
    release = () => undefined;
    push = open();
  });
  afterEach(async () => {
    await push.close();
    vi.useRealTimers();
  });

  const open = () =>
    createPush({
      store,
      async deliver(parcel) {
        sent.push(parcel);
        if (hangs(parcel))
          await new Promise<void>((resolve) => {
            const before = release;
            release = () => {
              before();
              resolve();
            };
          });
        return outcomes.shift() ?? accepted;
      },
      settings: () => ({
        afterMs: 15_000,
        contact: "mailto:me@box.example",
        insecurePrivateEndpoints: false,
      }),
      deviceOf: (id) => {
        const held = scopes.get(id);
        return held ? { id, live: true, reachable, has: (scope) => held.includes(scope) } : null;
      },
      placeOf: () => ({ tab_name: "api", agent_name: null }),
      lastText: async () => "Done.",
      clock: { now: () => Date.now(), monotonicNow: () => performance.now() },
      log: silentLog,
    });
  const event = (body: object) =>
    push.take({
      type: "event",
      workspace: "w",
      tab: "t",
      rev: ++rev,
      event: { agent: "a", seq: rev, at: "", ...body },
    } as unknown as Change);
  const asks = (id: string) =>
    event({
      type: "permission_requested",
      request_id: id,
      tool: "bash",
      summary: "ls",
      input: { command: "ls" },
      cwd: "/",
      digest: "d",
    });
  const answered = (id: string, device: string | null = null) =>
    event({ type: "permission_resolved", request_id: id, by: { device, name: "x" } });
  const keys = () => ({ p256dh: newVapidKeys().public_key, auth: "zqbxT6JKstKSY9JKibZLSQ" });
  const subscribe = (device: string, endpoint = `https://push.example.com/${newId()}`) =>
    push.subscribe(device, { endpoint, keys: keys() });
  const idOf = (parcel: Parcel | undefined): string => JSON.parse(parcel?.payload ?? "{}").id;
  const fetchLast = (device: string) => push.message(device, idOf(sent.at(-1)));
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

  it("tell everybody who may view once, after 15 s, and let only who may approve decide", async () => {
    await subscribe(phone);
    await subscribe(tablet);
    asks("r");
    await pass(14_900);
    expect(sent).toHaveLength(0);
    await pass(200);
    expect(sent.map(({ subscription }) => subscription.device)).toEqual([phone, tablet]);
    await pass(600_000);
    expect(sent).toHaveLength(2);
    const messages = [await push.message(phone, idOf(sent[0])), await push.message(tablet, idOf(sent[1]))];
    expect(messages.map(({ notifications }) => notifications)).toMatchObject([
      [{ decisions: ["allow", "deny"], tab_name: "api" }],
      [{ decisions: [] }],
    ]);
  });

  it("say nothing of what was answered in time", async () => {
    await subscribe(phone);
    asks("r");
    await pass(14_000);
    answered("r");
    await pass(600_000);
    expect(sent).toHaveLength(0);
  });

  it("put all that is due into one message, five of it listed", async () => {
    await subscribe(phone);
    for (let count = 0; count < 8; count++) asks(`r${count}`);
    await pass(16_000);
    expect(sent).toHaveLength(1);
    const message = await fetchLast(phone);
    expect([message.notifications.length, message.more, message.open.length]).toEqual([5, 3, 8]);
  });

  it("are told in a flood at a pace, whatever comes", async () => {
    await subscribe(phone);
    for (let count = 0; count < 300; count++) {
      asks(`r${count}`);
      await pass(200);
    }
    await pass(15_000);
    expect(sent.length).toBeLessThanOrEqual(12);
    const told = new Set<string>();
    for (const parcel of sent)
      for (const tag of (await push.message(phone, idOf(parcel)).catch(() => null))?.open ?? [])
        told.add(tag);
    expect(told.size).toBe(300);
  });

  it("are cleared when answered elsewhere, not when answered by the device itself or never fetched", async () => {
    await subscribe(phone);
    asks("r1");
    await pass(16_000);
    answered("r1", tablet);
    await pass(60_000);
    expect(sent).toHaveLength(1);
    asks("r2");
    await pass(16_000);
    await fetchLast(phone);
    answered("r2", tablet);
    await pass(60_000);
    expect(sent).toHaveLength(3);
    expect(await fetchLast(phone)).toEqual({ notifications: [], more: 0, open: [] });
    asks("r3");
    await pass(16_000);
    await fetchLast(phone);
    answered("r3", phone);
    await pass(60_000);
    expect(sent).toHaveLength(4);
  });

  it("give a phone that was off everything with the last message, and nothing that was answered", async () => {
    await subscribe(phone);
    asks("r1");
    await pass(20_000);
    asks("r2");
    await pass(20_000);
    answered("r1", tablet);
    expect(sent).toHaveLength(2);
    expect((await fetchLast(phone)).notifications).toMatchObject([{ request_id: "r2" }]);
  });

  it("are tried again after a failure, later each time, and as late as the service says", async () => {
    const { id } = await subscribe(phone);
    outcomes.push(failed(), failed(3_600_000));
    asks("r");
    await pass(16_000);
    expect((await push.state(phone)).subscriptions).toMatchObject([
      { id, problem: "it answered 503", last_sent: null },
    ]);
    await pass(20_000);
    expect(sent).toHaveLength(2);
    await pass(3_500_000);
    expect(sent).toHaveLength(2);
    await pass(1_300_000);
    expect(sent).toHaveLength(3);
    expect((await push.state(phone)).subscriptions).toMatchObject([
      { problem: null, last_sent: expect.any(String) },
    ]);
  });

  it("attack: push services that never answer hold up nobody else, nor more than two at a time of one device", async () => {
    const slow = Array.from({ length: 12 }, () => newId());
    for (const id of slow) {
      scopes.set(id, ["view"]);
      for (let each = 0; each < 4; each += 1) await subscribe(id, `https://slow.example.com/${newId()}`);
    }
    await subscribe(phone);
    hangs = ({ subscription }) => subscription.endpoint.startsWith("https://slow");
    asks("one");
    await pass(17_000);
    const of = (device: string) => sent.filter(({ subscription }) => subscription.device === device);
    expect(Math.max(...slow.map((id) => of(id).length))).toBe(2);
    expect(of(phone)).toHaveLength(1);
    release();
    await pass(1_000);
    expect(of(slow[0] ?? "")).toHaveLength(4);
  });

  it("end with a subscription that the service has forgotten, or that failed for a week", async () => {
    await subscribe(phone);
    outcomes.push({ kind: "gone" });
    asks("r1");
    await pass(16_000);
    expect(store.map.size).toBe(0);
    await subscribe(tablet);
    outcomes.push(...Array.from({ length: 1_000 }, () => failed()));
    await pass(6 * 24 * 3_600_000);
    expect(store.map.size).toBe(1);
    await pass(2 * 24 * 3_600_000);
    expect(store.map.size).toBe(0);
  });

  it("wait while the device could not ask what they are about", async () => {
    await subscribe(phone);
    reachable = false;
    asks("r");
    await pass(600_000);
    expect(sent).toHaveLength(0);
    expect(store.map.size).toBe(1);
    reachable = true;
    push.take({ type: "remote", rev: ++rev } as unknown as Change);
    await pass(500);
    expect(sent).toHaveLength(1);
  });

  it("end with the device or its right to view: at once, for good, and with the ids that were sent", async () => {
    await subscribe(phone);
    asks("r");
    await pass(16_000);
    const id = idOf(sent[0]);
    scopes.set(phone, ["approve"]);
    push.review();
    scopes.set(phone, ["view", "approve"]);
    push.review();
    await expect(push.message(phone, id)).rejects.toMatchObject({ code: "not_found" });
    asks("r2");
    await pass(600_000);
    expect(sent).toHaveLength(1);
    expect((await push.state(phone)).subscriptions).toEqual([]);
    scopes.delete(tablet);
    await expect(subscribe(tablet)).rejects.toMatchObject({ code: "unauthorized" });
    expect(store.map.size).toBe(0);
  });

  it("break off what is on its way to a device that is revoked", async () => {
    await subscribe(phone);
    asks("r");
    await pass(16_000);
    expect(sent[0]?.signal.aborted).toBe(false);
    scopes.delete(phone);
    push.review();
    expect(sent[0]?.signal.aborted).toBe(true);
  });

  it("are not taken up again for a device that went while the daemon was down", async () => {
    await subscribe(phone);
    await push.close();
    scopes.delete(phone);
    push = open();
    expect(store.map.size).toBe(0);
    asks("r");
    await pass(600_000);
    expect(sent).toHaveLength(0);
  });

  it("move along with a browser that was paired anew, and with nobody else", async () => {
    const endpoint = "https://push.example.com/mine";
    const mine = keys();
    const first = await push.subscribe(phone, { endpoint, keys: mine });
    const thief = await push
      .subscribe(tablet, { endpoint, keys: keys() })
      .catch((error: SallyportError) => error);
    expect(thief).toMatchObject({ code: "conflict", reason: "in_use" });
    expect([...store.map.values()]).toMatchObject([{ id: first.id, device: phone }]);
    const moved = await push.subscribe(tablet, { endpoint, keys: mine });
    expect([...store.map.values()]).toMatchObject([{ id: moved.id, device: tablet }]);
    asks("r");
    await pass(16_000);
    expect(sent.map(({ subscription }) => subscription.device)).toEqual([tablet]);
  });

  it("do not hold up whoever tells of a change", async () => {
    await subscribe(phone);
    const begun = sent.length;
    asks("r");
    answered("r");
    expect(sent).toHaveLength(begun);
  });
});

import { SallyportError } from "../errors.ts";
import { type Clock, toTime } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { Change } from "../protocol/changes.ts";
import type { PushMessage, PushState, PushSubscribe, PushSubscription } from "../protocol/push.ts";
import type { Scope } from "../protocol/scopes.ts";
import { createCourier } from "./courier.ts";
import type { Deliver } from "./deliver.ts";
import { describeNote, type NotePlace } from "./describe-note.ts";
import { parseEndpoint } from "./endpoint.ts";
import { createMessageBook } from "./message-book.ts";
import { createNoteBook, type Note } from "./notes.ts";
import { isP256Point, type StoredSubscription } from "./push-file.ts";
import type { PushStore } from "./push-store.ts";

export interface PushSettings {
  readonly afterMs: number;
  readonly contact: string;
  readonly insecurePrivateEndpoints: boolean;
}

/** A device as it is at the moment of asking. */
export interface PushDevice {
  readonly id: string;
  readonly live: boolean;
  /** False while it could not ask what a push is about. */
  readonly reachable: boolean;
  has(scope: Scope): boolean;
}

export interface PushOptions {
  readonly store: PushStore;
  readonly deliver: Deliver;
  readonly settings: () => PushSettings;
  /** Null: no such device is paired. */
  readonly deviceOf: (id: string) => PushDevice | null;
  readonly placeOf: (note: Note) => NotePlace;
  /** The last thing that the agent said in a turn. */
  readonly lastText: (agent: string, turn: string) => Promise<string | null>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Push {
  /** Why push is off, or null. */
  readonly problem: string | null;
  /** The state for a device; null: the master, which has no subscriptions. */
  state(device: string | null): Promise<PushState>;
  /** Throws `invalid_field`, `conflict` (in_use), `not_supported`, `disk_full`. */
  subscribe(device: string, raw: PushSubscribe): Promise<PushSubscription>;
  /** Throws `not_found` for what is unknown or another device's, `disk_full`. */
  unsubscribe(device: string, id: string): Promise<void>;
  /** What the id in a push stands for. Throws `not_found`. */
  message(device: string, id: string): Promise<PushMessage>;
  /** A change of the log. Returns at once. */
  take(change: Change): void;
  /** Devices came, went or changed: subscriptions of those that are out, or may not view any more, end for good. */
  review(): void;
  close(): Promise<void>;
}

const maxListed = 5;

/** Tells browsers that are elsewhere what waits for a person (docs/protocol.md, "Push"). */
export function createPush(options: PushOptions): Push {
  const { store, clock, log, settings } = options;
  const notes = createNoteBook();
  const messages = createMessageBook();

  const courier = createCourier({
    open: notes.open,
    messages,
    clock,
    afterMs: () => settings().afterMs,
    mayReach: (device) => options.deviceOf(device)?.reachable === true,
    async send(outgoing) {
      if (!mayReceive(outgoing.subscription.device))
        return { kind: "failed", problem: "the device is out", retryAfterMs: null };
      const { contact, insecurePrivateEndpoints } = settings();
      const vapid = await store.keys().catch(() => null);
      if (vapid === null) return { kind: "failed", problem: "there is no key", retryAfterMs: null };
      return options.deliver({ ...outgoing, vapid, contact, insecurePrivateEndpoints });
    },
    onGone({ id, device }, why) {
      log.info({ device }, `a subscription to notifications ended: ${why}`);
      end([id]);
    },
  });

  function mayReceive(id: string): boolean {
    const device = options.deviceOf(id);
    return device?.live === true && device.has("view");
  }

  /** Ends subscriptions; the disk may be slow or refuse, which the store reports and repeats. */
  function end(ids: readonly string[]): void {
    for (const id of ids) courier.remove(id);
    store.remove(ids).catch(() => undefined);
  }

  function review(): void {
    const gone = store.list().filter(({ device }) => !mayReceive(device));
    if (gone.length > 0) end(gone.map(({ id }) => id));
  }

  function assertAvailable(): void {
    if (store.problem !== null)
      throw new SallyportError("not_supported", `Notifications are off. ${store.problem}`);
  }

  function ownOf(device: string): StoredSubscription[] {
    return store.list().filter((each) => each.device === device);
  }

  /** The same browser under the same or another device; the keys show that it is the same. */
  function sameEndpoint(endpoint: string, keys: PushSubscribe["keys"]): StoredSubscription | null {
    const found = store.list().find((each) => each.endpoint === endpoint);
    if (!found) return null;
    if (found.p256dh === keys.p256dh && found.auth_secret === keys.auth) return found;
    throw new SallyportError("conflict", "Another subscription has this endpoint.", {
      reason: "in_use",
      field: "endpoint",
    });
  }

  for (const subscription of store.list()) if (mayReceive(subscription.device)) courier.add(subscription);
  review();

  return {
    problem: store.problem,
    async state(device) {
      const reason =
        store.problem ?? (device === null ? "Notifications belong to a paired device. Pair this one." : null);
      const after_seconds = Math.round(settings().afterMs / 1_000);
      if (reason !== null || device === null)
        return { available: false, reason, public_key: null, after_seconds, subscriptions: [] };
      const { public_key } = await store.keys();
      return {
        available: true,
        reason: null,
        public_key,
        after_seconds,
        subscriptions: ownOf(device).map(courier.view),
      };
    },
    async subscribe(device, raw) {
      assertAvailable();
      const { insecurePrivateEndpoints } = settings();
      const parsed = parseEndpoint(raw.endpoint, { insecurePrivateEndpoints });
      if (!parsed.ok) throw new SallyportError(parsed.refusal.code, parsed.refusal.message, parsed.refusal);
      const endpoint = parsed.endpoint.url.href;
      if (!isP256Point(raw.keys.p256dh)) throw wrongKey("keys.p256dh", "a point of P-256");
      if (!/^[A-Za-z0-9_-]{21}[AQgw]$/.test(raw.keys.auth)) throw wrongKey("keys.auth", "16 bytes");
      await store.keys();
      const same = sameEndpoint(endpoint, raw.keys);
      // Who could have lost the right to it while the keys were made.
      if (!mayReceive(device))
        throw new SallyportError("unauthorized", "This token no longer counts. Pair the device again.");
      if (same && same.device !== device) end([same.id]);
      const mine = same?.device === device ? same : null;
      const subscription: StoredSubscription = {
        id: mine?.id ?? newId(),
        device,
        endpoint,
        p256dh: raw.keys.p256dh,
        auth_secret: raw.keys.auth,
        kinds: raw.kinds ?? ["requests", "turns"],
        created: mine?.created ?? toTime(clock.now()),
      };
      const gone = await store.put(subscription);
      for (const { id } of gone) courier.remove(id);
      // Revoked while the disk was busy: what `review` could not see yet.
      if (!mayReceive(device)) end([subscription.id]);
      else courier.add(subscription);
      return courier.view(subscription);
    },
    async unsubscribe(device, id) {
      assertAvailable();
      if (!ownOf(device).some((each) => each.id === id))
        throw new SallyportError("not_found", "This device has no such subscription.");
      courier.remove(id);
      await store.remove([id]);
    },
    async message(device, id) {
      const message = messages.take(id, device, clock.monotonicNow());
      if (message === null)
        throw new SallyportError("not_found", "This message is too old, or was never sent to this device.");
      message.given ??= courier.give(message.subscription, message.tell);
      const mayApprove = options.deviceOf(device)?.has("approve") ?? false;
      const shown = message.given.flatMap((tag) => notes.open.get(tag) ?? []);
      const notifications = await Promise.all(
        shown.slice(0, maxListed).map(async (note) =>
          describeNote(note, {
            place: options.placeOf(note),
            mayApprove,
            text: note.kind === "turn" ? await options.lastText(note.agent, note.turn) : null,
          }),
        ),
      );
      return {
        notifications,
        more: Math.max(0, shown.length - maxListed),
        open: [...courier.stays(message.subscription)],
      };
    },
    take(change) {
      if (change.type === "remote") courier.wake(null);
      const noteChange = notes.take(change, clock.monotonicNow());
      if (noteChange !== null) courier.wake(noteChange);
    },
    review,
    async close() {
      courier.close();
      await store.close();
    },
  };
}

function wrongKey(field: string, what: string): SallyportError {
  return new SallyportError("invalid_field", `${field} must be ${what} in base64url without padding.`, {
    field,
  });
}

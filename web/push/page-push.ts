import type { Rest } from "../../src/client/rest.ts";
import type { PushKind, PushState, PushSubscription as Subscribed } from "../../src/protocol/push.ts";
import type { KeyValue } from "../state/key-value.ts";
import { applicationServerKey, pushRecordKey, readPushRecord } from "./push-record.ts";

/** Why this browser can show no notifications; null: it can. */
export type PushObstacle = "insecure" | "not installed" | "denied" | "no support";

export interface BrowserFacts {
  readonly isSecure: boolean;
  readonly hasWorker: boolean;
  readonly hasPush: boolean;
  readonly permission: NotificationPermission | null;
  /** iPhone or iPad: pushes go to installed pages only. */
  readonly isIos: boolean;
  readonly isInstalled: boolean;
}

/** The first thing that stands in the way, in the order in which a person can do something about it. */
export function obstacleOf(facts: BrowserFacts): PushObstacle | null {
  if (!facts.isSecure) return "insecure";
  if (facts.isIos && !facts.isInstalled) return "not installed";
  if (!facts.hasWorker || !facts.hasPush || facts.permission === null) return "no support";
  return facts.permission === "denied" ? "denied" : null;
}

export function browserFacts(): BrowserFacts {
  const { userAgent, maxTouchPoints } = navigator;
  // An iPad says that it is a Mac, which has no touch screen.
  const isIos = /iPhone|iPad|iPod/.test(userAgent) || (/Macintosh/.test(userAgent) && maxTouchPoints > 1);
  return {
    isSecure: isSecureContext,
    hasWorker: "serviceWorker" in navigator,
    hasPush: "PushManager" in window,
    permission: "Notification" in window ? Notification.permission : null,
    isIos,
    isInstalled: matchMedia("(display-mode: standalone), (display-mode: fullscreen)").matches,
  };
}

export interface PushView {
  readonly state: PushState;
  /** This browser's own subscription at the daemon; null: off. */
  readonly own: Subscribed | null;
}

/** How long a worker may take to come up that was installed just now. */
const workerTimeoutMs = 15_000;

/** What the settings need: the daemon's state, and whether this very browser is subscribed. */
export async function readPush(rest: Rest, keyValue: KeyValue): Promise<PushView> {
  const state = await rest.body<PushState>("GET", "/api/push");
  const record = readPushRecord(await keyValue.get(pushRecordKey));
  const own = state.subscriptions.find(({ id }) => id === record?.id) ?? null;
  // Taken away by the browser, or made with a key that the daemon has no more: it would never arrive.
  const isAlive = (await localSubscription()) !== null && record?.public_key === state.public_key;
  return { state, own: isAlive ? own : null };
}

/**
 * Switches on, or changes what is told. Call it from a touch: browsers ask for permission at no other time.
 *
 * @throws Error with a text for people when permission was refused or the browser has no push service
 */
export async function switchOn(
  rest: Rest,
  keyValue: KeyValue,
  kinds: readonly PushKind[],
): Promise<Subscribed> {
  if ((await Notification.requestPermission()) !== "granted")
    throw new Error("This browser may show no notifications: permission was not given.");
  const { public_key, reason } = await rest.body<PushState>("GET", "/api/push");
  if (public_key === null) throw new Error(reason ?? "Notifications are off on this daemon.");
  const subscription = await subscribe(await workerReady(), public_key);
  const { endpoint, keys } = subscription.toJSON();
  const subscribed = await rest.body<Subscribed>("POST", "/api/push", { endpoint, keys, kinds });
  await keyValue.set(pushRecordKey, { id: subscribed.id, kinds, public_key });
  return subscribed;
}

/** Switches off, at the daemon too if it answers: the browser alone is enough for silence. */
export async function switchOff(rest: Rest, keyValue: KeyValue): Promise<void> {
  const record = readPushRecord(await keyValue.get(pushRecordKey));
  await forgetPush(keyValue);
  if (record !== null) await rest.request("DELETE", `/api/push/${record.id}`);
}

/** Takes everything of this browser away: it is paired no more, or notifications are switched off. Never rejects. */
export async function forgetPush(keyValue: KeyValue): Promise<void> {
  await keyValue.delete(pushRecordKey);
  const subscription = await localSubscription();
  await subscription?.unsubscribe().catch(() => false);
  await tidyNotifications(() => false);
}

/** Closes shown notifications that are not to be kept. Never rejects. */
export async function tidyNotifications(keep: (tag: string) => boolean): Promise<void> {
  const registration = await registrationOf();
  const shown = (await registration?.getNotifications?.().catch(() => [])) ?? [];
  for (const notification of shown) if (!keep(notification.tag)) notification.close();
}

async function subscribe(
  registration: ServiceWorkerRegistration,
  publicKey: string,
): Promise<PushSubscription> {
  const options = { userVisibleOnly: true, applicationServerKey: applicationServerKey(publicKey) };
  const known = await registration.pushManager.getSubscription();
  try {
    // Of another key: the daemon could not write to it.
    if (known !== null && !isOfKey(known, publicKey)) await known.unsubscribe();
    return await registration.pushManager.subscribe(options);
  } catch (error) {
    throw new Error(`This browser's push service cannot be reached (${nameOf(error)}).`, { cause: error });
  }
}

function isOfKey(subscription: PushSubscription, publicKey: string): boolean {
  const used = subscription.options.applicationServerKey;
  if (used === null) return false;
  const wanted = applicationServerKey(publicKey);
  const bytes = new Uint8Array(used);
  return bytes.length === wanted.length && bytes.every((byte, at) => byte === wanted[at]);
}

async function workerReady(): Promise<ServiceWorkerRegistration> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(
      () =>
        reject(new Error("The part of this page that takes notifications did not come up. Load it again.")),
      workerTimeoutMs,
    );
  });
  return Promise.race([navigator.serviceWorker.ready, late]);
}

async function localSubscription(): Promise<PushSubscription | null> {
  const registration = await registrationOf();
  return (await registration?.pushManager?.getSubscription().catch(() => null)) ?? null;
}

async function registrationOf(): Promise<ServiceWorkerRegistration | null> {
  if (!("serviceWorker" in navigator)) return null;
  return (await navigator.serviceWorker.getRegistration().catch(() => undefined)) ?? null;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "unknown";
}

import type { PushMessage } from "../../src/protocol/push.ts";
import { type Notice, type NotificationData, noticesOf, plainNotice } from "./notification-text.ts";
import { applicationServerKey, type PushRecord, pushRecordKey, readPushRecord } from "./push-record.ts";
import { isPushMessage } from "./read-message.ts";

/** What the worker has of the browser; a test gives something else. */
export interface WorkerScope {
  /** Address of the daemon with a trailing slash. */
  readonly base: string;
  readonly registration: {
    showNotification(title: string, options: object): Promise<void>;
    getNotifications(): Promise<readonly ShownNotification[]>;
    readonly pushManager: Pick<PushManager, "getSubscription" | "subscribe">;
  };
  /** The windows of this page. */
  readonly windows: () => Promise<readonly PageWindow[]>;
  readonly openWindow: (url: string) => Promise<unknown>;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** The device's token; null when this browser is not paired. */
  readonly token: () => Promise<string | null>;
  readonly store: { get(key: string): Promise<unknown>; set(key: string, value: unknown): Promise<void> };
  /** True where each push must show something, or the browser ends the subscription (Safari). */
  readonly mustShow: boolean;
  /** How many buttons a notification has here. */
  readonly maxActions: number;
}
export interface ShownNotification {
  readonly tag: string;
  readonly data: unknown;
  close(): void;
}
export interface PageWindow {
  readonly url: string;
  readonly visibilityState: string;
  focus(): Promise<unknown>;
  postMessage(message: unknown): void;
}

const timeoutMs = 10_000;
const unreachable = "Something waits for you. The daemon could not be asked what it is.";
const tooOld = "There was news while this device was away.";

/**
 * A push came. Its id is traded for what it stands for; nothing is shown while a page is looked at here, which shows it
 * itself. Never rejects.
 *
 * @param payload text of the push, null for none
 */
export async function handlePush(scope: WorkerScope, payload: string | null): Promise<void> {
  const id = readId(payload);
  if (id === null) return;
  if (!scope.mustShow && (await isLookedAt(scope))) return;
  const token = await scope.token();
  const found = token === null ? "not paired" : await fetchMessage(scope, token, id);
  if (found === "not paired") {
    await end(scope);
    return;
  }
  if (found === "unreachable") return show(scope, plainNotice(unreachable));
  if (found === "too old") return show(scope, plainNotice(tooOld));
  await closeAllBut(scope, new Set(found.open));
  const notices = noticesOf(found);
  for (const notice of notices) await show(scope, notice);
  if (notices.length === 0 && scope.mustShow)
    await show(scope, { ...plainNotice("Answered elsewhere."), silent: true });
}

/** A notification was touched: its button answers the request, the rest opens the page. Never rejects. */
export async function handleClick(
  scope: WorkerScope,
  notification: ShownNotification,
  action: string,
): Promise<void> {
  notification.close();
  const data = readData(notification.data);
  const isDecision = action === "allow" || action === "deny";
  if (!isDecision || data.request === null) return openPage(scope, data.path);
  const problem = await decide(scope, data.request, action);
  if (problem === null) return;
  await show(scope, {
    ...plainNotice(`${problem} Touch to look at it.`),
    title: data.request.title,
    tag: notification.tag,
    data: { ...data, request: null },
  });
}

/** The browser changed the subscription by itself: the daemon is told the new one, with the kinds of the old. Never rejects. */
export async function handleSubscriptionChange(
  scope: WorkerScope,
  renewed: PushSubscription | null,
): Promise<void> {
  const record = readPushRecord(await scope.store.get(pushRecordKey));
  const token = await scope.token();
  if (record === null || token === null) return;
  try {
    const subscription =
      renewed ??
      (await scope.registration.pushManager.subscribe({
        userVisibleOnly: true,
        applicationServerKey: applicationServerKey(record.public_key),
      }));
    const body = { ...subscription.toJSON(), kinds: record.kinds };
    const answer = await call(scope, token, "POST", "api/push", body);
    if (!answer.ok) return;
    const { id } = (await answer.json()) as { id: string };
    await scope.store.set(pushRecordKey, { ...record, id } satisfies PushRecord);
    if (id !== record.id) await call(scope, token, "DELETE", `api/push/${record.id}`);
  } catch {
    // No network at the moment: the settings show that notifications are off, and switch them on again.
  }
}

async function fetchMessage(
  scope: WorkerScope,
  token: string,
  id: string,
): Promise<PushMessage | "not paired" | "too old" | "unreachable"> {
  try {
    const answer = await call(scope, token, "GET", `api/push/messages/${id}`);
    if (answer.status === 401) return "not paired";
    if (answer.status === 404) return "too old";
    const message: unknown = answer.ok ? await answer.json() : null;
    return isPushMessage(message) ? message : "unreachable";
  } catch {
    return "unreachable";
  }
}

/** Answers a permission request; null when that counted, else what went wrong. */
async function decide(
  scope: WorkerScope,
  { request_id, digest }: NonNullable<NotificationData["request"]>,
  decision: "allow" | "deny",
): Promise<string | null> {
  const token = await scope.token();
  if (token === null) return "This browser is not paired any more.";
  try {
    const command = { type: "approve", request_id, digest, decision };
    const answer = await call(scope, token, "POST", "api/command", command);
    if (answer.ok) return null;
    const body: unknown = await answer.json();
    const message = typeof body === "object" && body !== null && "message" in body ? body.message : null;
    return typeof message === "string" ? message : "The daemon refused this answer.";
  } catch {
    return "The answer may not have arrived: there is no connection to the daemon.";
  }
}

function call(
  scope: WorkerScope,
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  return scope.fetch(scope.base + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  });
}

/** This browser is no device any more: it asks its push service for silence, and takes from the screen what is there. */
async function end(scope: WorkerScope): Promise<void> {
  const subscription = await scope.registration.pushManager.getSubscription().catch(() => null);
  await subscription?.unsubscribe().catch(() => false);
  await closeAllBut(scope, new Set());
}

async function closeAllBut(scope: WorkerScope, stay: ReadonlySet<string>): Promise<void> {
  for (const shown of await scope.registration.getNotifications()) if (!stay.has(shown.tag)) shown.close();
}

async function show(scope: WorkerScope, notice: Notice): Promise<void> {
  const { title, actions, stays, ...rest } = notice;
  await scope.registration
    .showNotification(title, {
      ...rest,
      icon: `${scope.base}icon-192.png`,
      badge: `${scope.base}icon-badge-96.png`,
      // A tag that is shown already would be replaced without a sound.
      renotify: !rest.silent,
      requireInteraction: stays,
      ...(actions.length > 0 && actions.length <= scope.maxActions ? { actions } : {}),
    })
    // Permission was taken away meanwhile: then nobody wants to be told.
    .catch(() => undefined);
}

async function isLookedAt(scope: WorkerScope): Promise<boolean> {
  return (await scope.windows()).some(
    ({ url, visibilityState }) => url.startsWith(scope.base) && visibilityState === "visible",
  );
}

async function openPage(scope: WorkerScope, path: string): Promise<void> {
  const own = (await scope.windows()).filter(({ url }) => url.startsWith(scope.base));
  const [page] = [...own.filter((each) => each.visibilityState === "visible"), ...own];
  try {
    if (page) {
      page.postMessage({ type: "open", path });
      await page.focus();
    } else await scope.openWindow(`${scope.base}#${path}`);
  } catch {
    // The browser wants another touch for that; it shows its own way in.
  }
}

function readId(payload: string | null): string | null {
  try {
    const raw: unknown = JSON.parse(payload ?? "");
    const id = typeof raw === "object" && raw !== null && "id" in raw ? raw.id : null;
    return typeof id === "string" && /^[0-9a-f]{32}$/.test(id) ? id : null;
  } catch {
    return null; // Not one of ours.
  }
}

function readData(raw: unknown): NotificationData {
  const data = raw as NotificationData | null;
  return typeof data?.path === "string" ? data : { path: "/", request: null };
}

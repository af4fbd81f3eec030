/// <reference lib="webworker" />
import { openCredentialStore } from "../state/credential.ts";
import { openKeyValue } from "../state/key-value.ts";
import { handleClick, handlePush, handleSubscriptionChange, type WorkerScope } from "./worker-push.ts";

/** Makes a service worker take pushes. Nothing happens before its page has subscribed. */
export function listenForPushes(worker: ServiceWorkerGlobalScope): void {
  const base = worker.registration.scope;
  const maxActions = "Notification" in worker ? (Notification as { maxActions?: number }).maxActions : 0;
  const scope = (): WorkerScope => {
    // Opened anew each time: the page may have paired, or forgotten its token, since this worker began.
    const store = openKeyValue(base);
    return {
      base,
      registration: worker.registration,
      windows: () => worker.clients.matchAll({ type: "window", includeUncontrolled: true }),
      openWindow: (url) => worker.clients.openWindow(url),
      fetch: (url, init) => worker.fetch(url, init),
      token: async () => (await openCredentialStore(store, null, base).get())?.token ?? null,
      store,
      mustShow: isWebKit(worker.navigator.userAgent),
      maxActions: maxActions ?? 0,
    };
  };
  worker.addEventListener("push", (event) => {
    event.waitUntil(handlePush(scope(), event.data?.text() ?? null));
  });
  worker.addEventListener("notificationclick", (event) => {
    event.waitUntil(handleClick(scope(), event.notification, event.action));
  });
  worker.addEventListener("pushsubscriptionchange", (event) => {
    // Not in every browser, and not in the library's types.
    const { newSubscription = null, waitUntil } = event as Event & Partial<PushSubscriptionChange>;
    waitUntil?.call(event, handleSubscriptionChange(scope(), newSubscription));
  });
}

interface PushSubscriptionChange {
  readonly newSubscription: PushSubscription | null;
  waitUntil(work: Promise<unknown>): void;
}

/** Safari ends a subscription whose pushes show nothing. Chromium names WebKit too. */
function isWebKit(userAgent: string): boolean {
  return /AppleWebKit\//.test(userAgent) && !/Chrom|Edg|Android/.test(userAgent);
}

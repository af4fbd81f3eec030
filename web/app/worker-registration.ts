import { signal } from "@preact/signals";

/** A newer version of the page is ready; `updatePage` takes it. */
export const isUpdateReady = signal(false);

interface TrustedTypesLike {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (raw: string) => string },
  ): { createScriptURL(raw: string): unknown };
}

const workerFile = "worker.js";
let registration: ServiceWorkerRegistration | null = null;

/** Installs the worker where the browser lets the page: on https, and on this very machine. Never rejects. */
export async function registerWorker(): Promise<void> {
  if (!("serviceWorker" in navigator) || !isSecureContext) return;
  try {
    registration = await navigator.serviceWorker.register(workerUrl(), { updateViaCache: "none" });
  } catch {
    return; // Refused by a setting of the browser: the page works without.
  }
  watch(registration);
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (isUpdateReady.peek()) location.reload();
  });
  document.addEventListener("visibilitychange", () => {
    // Offline, or the daemon is away: another time.
    if (document.visibilityState === "visible") registration?.update().catch(() => undefined);
  });
}

/** Takes over the newer version and loads the page anew. */
export function updatePage(): void {
  const { waiting } = registration ?? {};
  if (waiting) waiting.postMessage("take over");
  else location.reload();
}

function watch(of: ServiceWorkerRegistration): void {
  const note = (): void => {
    if (of.waiting !== null && navigator.serviceWorker.controller !== null) isUpdateReady.value = true;
  };
  note();
  of.addEventListener("updatefound", () => of.installing?.addEventListener("statechange", note));
}

/** The one address that may become a script here: our own worker, beside the page. */
function workerUrl(): string {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypesLike };
  const own = new URL(workerFile, document.baseURI).href;
  if (trustedTypes === undefined) return own;
  const policy = trustedTypes.createPolicy("sallyport-worker", {
    createScriptURL(raw) {
      if (raw !== own) throw new TypeError("This is not the worker of this page.");
      return raw;
    },
  });
  return policy.createScriptURL(own) as string;
}

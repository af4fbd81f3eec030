import { signal } from "@preact/signals";

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: "info" | "problem";
  readonly action: { readonly label: string; readonly run: () => void } | null;
}

const shownMs = 6_000;
const maxShown = 3;
let lastId = 0;

/** What is said for a few seconds at the edge of the page. */
export const toasts = signal<readonly Toast[]>([]);

/** Says something for a few seconds; twice as long with an action. */
export function toast(
  text: string,
  options: { readonly kind?: Toast["kind"]; readonly action?: Toast["action"] } = {},
): void {
  lastId += 1;
  const { kind = "info", action = null } = options;
  const shown: Toast = { id: lastId, text, kind, action };
  toasts.value = [...toasts.value.filter((other) => other.text !== text), shown].slice(-maxShown);
  setTimeout(() => dismissToast(shown.id), action === null ? shownMs : 2 * shownMs);
}

export function dismissToast(id: number): void {
  if (toasts.value.some((shown) => shown.id === id))
    toasts.value = toasts.value.filter((shown) => shown.id !== id);
}

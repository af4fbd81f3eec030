import { effect, type Signal, signal } from "@preact/signals";

const prefix = `sallyport.ui ${location.pathname.replace(/[^/]*$/, "")} `;

/**
 * A choice of this browser that lasts, as a signal: `preference("sidebar", true, isBoolean)`. Nothing secret.
 *
 * @param isValid judges what was stored, which an older page may have written
 */
export function preference<T>(name: string, initial: T, isValid: (raw: unknown) => raw is T): Signal<T> {
  const chosen = signal(read(name, initial, isValid));
  let isFirst = true;
  effect(() => {
    const { value } = chosen;
    if (isFirst) {
      isFirst = false;
      return;
    }
    try {
      localStorage.setItem(prefix + name, JSON.stringify(value));
    } catch {
      isFirst = false; // The browser stores nothing: the choice lives as long as the page.
    }
  });
  return chosen;
}

export function isBoolean(raw: unknown): raw is boolean {
  return typeof raw === "boolean";
}

function read<T>(name: string, initial: T, isValid: (raw: unknown) => raw is T): T {
  try {
    const raw: unknown = JSON.parse(localStorage.getItem(prefix + name) ?? "null");
    return isValid(raw) ? raw : initial;
  } catch {
    return initial; // Refused by the browser, or damaged.
  }
}

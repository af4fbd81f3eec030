import { signal } from "@preact/signals";

/** What a screen reader says next; the page has one live region for each kind. */
export const announced = signal<{ readonly polite: string; readonly assertive: string }>({
  polite: "",
  assertive: "",
});

/** Says `text` to a screen reader without showing it. `urgent` interrupts: for what waits for the person. */
export function announce(text: string, urgency: "polite" | "urgent" = "polite"): void {
  announced.value =
    urgency === "urgent" ? { ...announced.value, assertive: text } : { ...announced.value, polite: text };
}

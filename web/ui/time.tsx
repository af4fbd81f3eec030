import { signal } from "@preact/signals";
import { relativeTime } from "./relative-time.ts";

/** Moves on every half minute, for all times on the page together. */
const nowMs = signal(Date.now());
setInterval(() => {
  nowMs.value = Date.now();
}, 30_000);

/** A moment as people say it: `just now`, `4 min ago`; the whole date is its tip. */
export function Time({ at }: { readonly at: string }) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return null;
  return (
    <time dateTime={at} title={date.toLocaleString()}>
      {relativeTime(date.getTime(), Math.max(nowMs.value, Date.now()))}
    </time>
  );
}

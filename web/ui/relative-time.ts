const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** `just now`, `4 min ago`, `3 h ago`, `yesterday`, `5 days ago`, then the date. A clock that is ahead is `just now`. */
export function relativeTime(atMs: number, nowMs: number): string {
  const ageMs = nowMs - atMs;
  if (ageMs < minuteMs) return ageMs > -5 * minuteMs ? "just now" : new Date(atMs).toLocaleString();
  if (ageMs < hourMs) return `${Math.floor(ageMs / minuteMs)} min ago`;
  if (ageMs < dayMs) return `${Math.floor(ageMs / hourMs)} h ago`;
  const days = Math.floor(ageMs / dayMs);
  if (days === 1) return "yesterday";
  if (days < 7) return `${days} days ago`;
  return new Date(atMs).toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" });
}

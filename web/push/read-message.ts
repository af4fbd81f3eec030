import type { PushMessage } from "../../src/protocol/push.ts";

/** True for an answer that a worker can go by. It may be older or newer than the daemon, so that the shape is looked at. */
export function isPushMessage(raw: unknown): raw is PushMessage {
  if (typeof raw !== "object" || raw === null) return false;
  if (!("notifications" in raw) || !("open" in raw) || !("more" in raw)) return false;
  return (
    Array.isArray(raw.notifications) &&
    raw.notifications.every(isKnown) &&
    Array.isArray(raw.open) &&
    typeof raw.more === "number"
  );
}

function isKnown(raw: unknown): boolean {
  if (typeof raw !== "object" || raw === null || !("kind" in raw) || !("tag" in raw)) return false;
  return typeof raw.tag === "string" && ["permission", "question", "turn"].includes(String(raw.kind));
}

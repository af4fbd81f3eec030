import type { ConnectionStatus } from "../state/session.ts";

export interface ConnectionText {
  readonly state: "live" | "connecting" | "waiting" | "offline" | "stopped";
  /** A few words for the edge of the page. */
  readonly short: string;
  /** Why, and what happens next; null while all is well. */
  readonly long: string | null;
}

/**
 * The status of the connection in words.
 *
 * @param isOnline what the browser believes of its network; it is right only when it says no
 */
export function connectionText(status: ConnectionStatus, nowMs: number, isOnline: boolean): ConnectionText {
  switch (status.phase) {
    case "live":
      return { state: "live", short: "Live", long: null };
    case "connecting":
      return { state: "connecting", short: "Connecting…", long: null };
    case "waiting": {
      if (!isOnline)
        return {
          state: "offline",
          short: "Offline",
          long: "This device has no network. The page connects as soon as it is back.",
        };
      const seconds = Math.max(1, Math.ceil((status.sinceMs + status.retryInMs - nowMs) / 1_000));
      return { state: "waiting", short: `Reconnecting in ${seconds} s`, long: plain(status.message) };
    }
    case "stopped":
      return { state: "stopped", short: "Disconnected", long: status.message };
  }
}

/** What the browser says of a request that failed (`Failed to fetch`) helps nobody. */
function plain(message: string): string {
  return /does not answer|was lost \(1006\)/.test(message)
    ? "The daemon does not answer. It may be starting again, or this device has lost the way to it."
    : message;
}

import { describe, expect, it } from "vitest";
import { connectionText } from "../../web/app/connection-text.ts";

const waiting = (message: string, retryInMs = 4_000) =>
  ({ phase: "waiting", retryInMs, message, sinceMs: 10_000 }) as const;

describe("connectionText", () => {
  it.each([
    [{ phase: "live", sinceMs: 0 } as const, 0, true, "live", "Live", null],
    [{ phase: "connecting", sinceMs: 0 } as const, 0, true, "connecting", "Connecting…", null],
    [waiting("Slow down."), 10_000, true, "waiting", "Reconnecting in 4 s", "Slow down."],
    [waiting("Slow down."), 13_100, true, "waiting", "Reconnecting in 1 s", "Slow down."],
    [waiting("Slow down."), 99_000, true, "waiting", "Reconnecting in 1 s", "Slow down."],
    [
      waiting("https://h does not answer (Failed to fetch)."),
      10_000,
      true,
      "waiting",
      "Reconnecting in 4 s",
      "The daemon does not answer.",
    ],
    [
      waiting("The connection was lost (1006)."),
      10_000,
      true,
      "waiting",
      "Reconnecting in 4 s",
      "The daemon does not answer.",
    ],
    [waiting("Slow down."), 10_000, false, "offline", "Offline", "This device has no network."],
    [
      { phase: "stopped", reason: "malformed", message: "Outdated?", sinceMs: 0 } as const,
      0,
      true,
      "stopped",
      "Disconnected",
      "Outdated?",
    ],
  ])("%j at %i ms, online %s", (status, nowMs, isOnline, state, short, long) => {
    const text = connectionText(status, nowMs, isOnline);
    expect(text).toMatchObject({ state, short });
    if (long === null) expect(text.long).toBeNull();
    else expect(text.long).toContain(long);
  });
});

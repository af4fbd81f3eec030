import type { Access } from "../protocol/objects.ts";

/** What keeps a daemon up. */
export interface Activity {
  readonly access: Access;
  /** A person wants this machine awake for as long as the daemon runs. */
  readonly keptAwake: boolean;
  readonly clients: number;
  readonly runningAgents: number;
  readonly runningJobs: number;
  /** Somebody is asked something and may still come to answer. */
  readonly pending: number;
  /** Monotonic milliseconds of the last request that passed the gate. */
  readonly lastRequestMs: number;
}

/** True while a daemon must not end for idleness: others may come in, somebody is connected, or something runs or waits. */
export function isBusy(activity: Activity): boolean {
  return (
    activity.access !== "off" ||
    activity.keptAwake ||
    activity.clients > 0 ||
    activity.runningAgents > 0 ||
    activity.runningJobs > 0 ||
    activity.pending > 0
  );
}

export interface IdleWatchOptions {
  /** 0: never. Asked at each look, because settings change. */
  readonly idleMinutes: () => number;
  readonly activity: () => Activity;
  readonly monotonicNow: () => number;
  readonly onIdle: () => void;
}

const everyMs = 10_000;

/** Looks now and then whether the daemon was idle for the whole time, and tells once. Returns how to stop. */
export function watchIdle(options: IdleWatchOptions): () => void {
  let quietSinceMs = options.monotonicNow();
  const timer = setInterval(() => {
    const activity = options.activity();
    const now = options.monotonicNow();
    if (isBusy(activity)) quietSinceMs = now;
    else quietSinceMs = Math.max(quietSinceMs, activity.lastRequestMs);
    const idleMs = options.idleMinutes() * 60_000;
    if (idleMs === 0 || now - quietSinceMs < idleMs) return;
    clearInterval(timer);
    options.onIdle();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

import type { Change, Snapshot } from "../protocol/changes.ts";
import { applyChange, needsSnapshot } from "./apply-change.ts";
import { type FirstMessage, isSnapshot, type Lagged } from "./connection.ts";

export interface LiveStateHandlers {
  /** One change, in order, each once; `state` holds it already. */
  readonly change: (change: Change, state: Snapshot) => void;
  /** The whole state is new; changes before it may not have been told. */
  readonly snapshot: (state: Snapshot) => void;
}

export interface SnapshotRequest {
  readonly type: "snapshot";
  readonly since?: number;
  readonly instance?: string;
}

/** The snapshot, kept current by what arrives. Each method yields what to send for what is missing, or null. */
export interface LiveState {
  readonly current: Snapshot | null;
  /** Takes a connection's first message, or the reply to `snapshot`. */
  take(message: FirstMessage): SnapshotRequest | null;
  hear(message: Change | Lagged): SnapshotRequest | null;
  /** The connection shows `workspace` from now on: what it holds is asked for, unless it is here. */
  moved(workspace: string): SnapshotRequest | null;
  /** Something is known to differ that no change tells. */
  outdated(): SnapshotRequest | null;
  /** The connection was lost: the next one brings what is missing. */
  reset(): void;
}

export function createLiveState(handlers: LiveStateHandlers): LiveState {
  let current: Snapshot | null = null;
  // Changes are missing: later ones are let go, because the reply that is on its way holds them too.
  let isBehind = false;
  // Changes do not say enough: they are applied as far as they go until the whole snapshot comes.
  let isVague = false;
  let isAsked = false;
  // What is on its way was asked for before the connection moved.
  let isOutdated = false;

  function apply(change: Change): void {
    if (current === null || change.rev <= current.rev) return;
    isVague ||= needsSnapshot(current, change);
    current = applyChange(current, change);
    handlers.change(change, current);
  }

  function outdated(): SnapshotRequest | null {
    isVague = true;
    isOutdated = isAsked;
    return missing();
  }

  function missing(): SnapshotRequest | null {
    if (current === null || isAsked || !(isBehind || isVague)) return null;
    isAsked = true;
    return isVague
      ? { type: "snapshot" }
      : { type: "snapshot", since: current.rev, instance: current.instance };
  }

  return {
    get current() {
      return current;
    },
    take(message) {
      isAsked = false;
      isBehind = false;
      if (isSnapshot(message)) {
        isVague = isOutdated;
        current = asOne(current, message);
        handlers.snapshot(current);
      } else for (const change of message.changes) apply(change);
      isOutdated = false;
      return missing();
    },
    hear(message) {
      if (current === null) return null;
      const expected = current.rev + 1;
      if (message.type === "lagged") isBehind ||= message.rev >= expected;
      else if (message.rev > expected) isBehind = true;
      else if (!isBehind) apply(message);
      return missing();
    },
    moved: (workspace) => (current?.workspace.id === workspace && !isAsked ? null : outdated()),
    outdated,
    reset() {
      isBehind = false;
      isAsked = false;
      isOutdated = false;
    },
  };
}

/** Whether the versions differ is told to a connection's first message only. */
function asOne(before: Snapshot | null, after: Snapshot): Snapshot {
  if (before?.instance !== after.instance || !before.daemon.version_mismatch) return after;
  return { ...after, daemon: { ...after.daemon, version_mismatch: true } };
}

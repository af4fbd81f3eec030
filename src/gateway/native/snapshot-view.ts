import type { Lease } from "../../auth/principal.ts";
import type { ChangeLog } from "../../engine/change-log.ts";
import type { Engine } from "../../engine/engine.ts";
import { SallyportError } from "../../errors.ts";
import type { Snapshot } from "../../protocol/changes.ts";
import { withoutLoginLink } from "../../protocol/login-link.ts";
import type { Awake, Remote } from "../../protocol/objects.ts";
import { scopes } from "../../protocol/scopes.ts";
import { JsonBytes } from "../body-bytes.ts";

/** What a snapshot and `GET /api/daemon` tell of the daemon itself. */
export interface DaemonFacts {
  readonly version: string;
  readonly pid: number;
  /** RFC 3339, UTC. */
  readonly started: string;
  readonly idleMinutes: number | null;
  /** As it is now; called often, so it must be cheap. */
  remote(): Remote;
  awake(): Awake;
  /** How many sockets are open. */
  clients(): number;
}

export interface SnapshotViewOptions {
  readonly engine: Engine;
  readonly changeLog: ChangeLog;
  readonly facts: DaemonFacts;
}

export interface FullSnapshotOptions {
  /** A workspace's id, or null for the last used. */
  readonly workspace: string | null;
  /** The client's `version=`, as it came. */
  readonly rawVersion: string | null;
}

export interface SnapshotViews {
  /** All of the state. Throws `not_found` for a workspace that does not exist. */
  full(lease: Lease, options: FullSnapshotOptions): Snapshot;
  /**
   * Only the changes after `since`, from the bytes of the log; null when they left the ring, are another process's, or
   * `since` is from the future.
   */
  missed(lease: Lease, since: number | null, instance: string | null): JsonBytes | null;
}

const semver = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

/** True when a client's version is a Sallyport version (semver.org) and not ours. */
function versionsDiffer(rawVersion: string | null, ours: string): boolean {
  return rawVersion !== null && rawVersion !== ours && semver.test(rawVersion);
}

/** A tunnel's login link goes to `admin` only. */
export function remoteFor(lease: Lease, remote: Remote): Remote {
  return lease.scopes.has("admin") ? remote : withoutLoginLink(remote);
}

export function createSnapshotViews({ engine, changeLog, facts }: SnapshotViewOptions): SnapshotViews {
  return {
    full(lease, { workspace, rawVersion }) {
      const { principal } = lease;
      return {
        type: "snapshot",
        ...engine.snapshot(workspace ?? undefined),
        daemon: {
          version: facts.version,
          pid: facts.pid,
          started: facts.started,
          version_mismatch: versionsDiffer(rawVersion, facts.version),
          clients: facts.clients(),
          principal: {
            kind: principal.kind,
            device: principal.kind === "device" ? principal.device : null,
            scopes: scopes.filter((scope) => lease.scopes.has(scope)),
          },
        },
        update: null,
        control: { available: false },
        ...engine.library.models(),
        remote: remoteFor(lease, facts.remote()),
        awake: facts.awake(),
      };
    },
    missed(lease, since, instance) {
      if (since === null || instance !== changeLog.instance) return null;
      const changes = changeLog.since(since);
      if (!changes) return null;
      const isAdmin = lease.scopes.has("admin");
      const comma = Buffer.from(",");
      const parts: Buffer[] = [
        Buffer.from(
          `{"type":"snapshot","since":${since},"rev":${changeLog.rev},"instance":${JSON.stringify(instance)},"changes":[`,
        ),
      ];
      for (const [index, logged] of changes.entries()) {
        if (index > 0) parts.push(comma);
        parts.push(isAdmin ? logged.forAdmin : logged.forOthers);
      }
      parts.push(Buffer.from("]}"));
      return new JsonBytes(Buffer.concat(parts));
    },
  };
}

/** Reads `since=` of a URL leniently, since a browser cannot see why an upgrade is refused: null for anything odd. */
export function readSince(rawSince: string | null): number | null {
  return rawSince !== null && /^\d{1,15}$/.test(rawSince) ? Number(rawSince) : null;
}

/** The snapshot of a connection's own workspace, or of the last used when that is gone. */
export function ownSnapshot(views: SnapshotViews, lease: Lease, options: FullSnapshotOptions): Snapshot {
  try {
    return views.full(lease, options);
  } catch (error) {
    if (options.workspace === null || !(error instanceof SallyportError) || error.code !== "not_found")
      throw error;
    return views.full(lease, { ...options, workspace: null });
  }
}

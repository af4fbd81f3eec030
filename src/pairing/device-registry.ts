import type { Lease } from "../auth/principal.ts";
import { SallyportError } from "../errors.ts";
import { writeFileAtomic } from "../lib/atomic-file.ts";
import { type Clock, toTime } from "../lib/clock.ts";
import { createRetryingWriter, writeRefused } from "../lib/retrying-writer.ts";
import type { PairedDevice } from "../protocol/objects.ts";
import { type Scope, scopes as scopeOrder } from "../protocol/scopes.ts";
import { formatDeviceFile, maxDevices, type StoredDevice } from "./device-file.ts";
import { createLease, type LeaseHandle } from "./lease.ts";

/** A device as it is now; `lease` is the one object that stands for it while the process lives. */
export interface RegisteredDevice {
  readonly stored: Readonly<StoredDevice>;
  readonly lease: Lease;
}

export interface DeviceChanges {
  readonly name?: string;
  readonly scopes?: readonly Scope[];
}

export interface DeviceRegistry {
  readonly count: number;
  list(): readonly RegisteredDevice[];
  get(id: string): RegisteredDevice | null;
  /** Adds a device, on disk when it resolves. A refused write takes it back: nobody has its token yet. */
  add(device: StoredDevice): Promise<RegisteredDevice>;
  /** Changes name or scopes: in memory at once, on disk when it resolves. Throws `not_found`. */
  update(id: string, changes: DeviceChanges): Promise<RegisteredDevice>;
  /**
   * Ends a device: in memory at once, on disk when it resolves. With `announceLater` its lease has ended for every check,
   * but listeners (its sockets) hear of it when the returned `announce` is called, or after half a second.
   * Throws `not_found`, and `disk_full` or `internal` when the disk refused: the device is out all the same.
   */
  revoke(
    id: string,
    options?: { readonly announceLater?: boolean },
  ): Promise<{ readonly announce: () => void }>;
  /** Notes that the device was seen now; written with the next write, at most a minute later. */
  touch(id: string): void;
  /** Writes what is unwritten, as far as the disk lets it. */
  close(): Promise<void>;
}

export interface DeviceRegistryOptions {
  readonly path: string;
  readonly devices: readonly StoredDevice[];
  readonly clock: Clock;
  /** A device came, went or changed (not: was seen). */
  readonly onChange: () => void;
  readonly onExpired: (device: Readonly<StoredDevice>) => void;
  readonly onProblem: (problem: unknown) => void;
  readonly writeFile?: (path: string, text: string) => Promise<void>;
  readonly firstRetryMs?: number;
  readonly maxRetryMs?: number;
  readonly seenWriteMs?: number;
}

interface Entry extends RegisteredDevice {
  stored: StoredDevice;
  scopes: ReadonlySet<Scope>;
  readonly handle: LeaseHandle;
  lastSeenMs: number | null;
}

/** A timer is re-armed at least this often: the wall clock may jump, and a sleeping machine stops timers. */
const maxSweepMs = 30_000;
const maxLocalOnlyDevices = 100;
const announceAtLatestMs = 500;

/** The paired devices: memory is the truth, `devices.json` follows it. */
export function createDeviceRegistry(options: DeviceRegistryOptions): DeviceRegistry {
  const { clock, seenWriteMs = 60_000, writeFile = writeFileAtomic } = options;
  const entries = new Map<string, Entry>();
  const expired = new WeakSet<Entry>();
  let sweepTimer: NodeJS.Timeout | null = null;
  let seenTimer: NodeJS.Timeout | null = null;
  let closed = false;

  const writer = createRetryingWriter({
    write: () => writeFile(options.path, formatDeviceFile([...entries.values()].map(toStored))),
    onFailure: options.onProblem,
    ...(options.firstRetryMs === undefined ? {} : { firstRetryMs: options.firstRetryMs }),
    ...(options.maxRetryMs === undefined ? {} : { maxRetryMs: options.maxRetryMs }),
  });

  function toStored(entry: Entry): StoredDevice {
    return { ...entry.stored, last_seen: entry.lastSeenMs === null ? null : toTime(entry.lastSeenMs) };
  }

  function register(stored: StoredDevice): Entry {
    const handle = createLease({
      principal: { kind: "device", device: stored.id },
      name: () => entry.stored.name,
      scopes: () => entry.scopes,
      expiresAtMs: stored.expires === null ? null : Date.parse(stored.expires),
      localOnly: stored.local_only,
      now: clock.now,
      onListenerError: options.onProblem,
    });
    const entry: Entry = {
      stored,
      scopes: new Set(stored.scopes),
      lease: handle.lease,
      handle,
      lastSeenMs: stored.last_seen === null ? null : Date.parse(stored.last_seen),
    };
    entries.set(stored.id, entry);
    return entry;
  }

  function existing(id: string): Entry {
    const entry = entries.get(id);
    if (!entry)
      throw new SallyportError("not_found", "No such device is paired. See the list: sallyport devices");
    return entry;
  }

  function end(entry: Entry, how: "revoked" | "expired"): void {
    entry.handle.markEnded(how);
    entry.handle.announceEnd();
  }

  /** Ends what has expired and arms the timer for the next one. An expired device stays listed until it is revoked. */
  function sweep(): void {
    if (sweepTimer) clearTimeout(sweepTimer);
    sweepTimer = null;
    const now = clock.now();
    let nextMs = Number.POSITIVE_INFINITY;
    let changed = false;
    for (const entry of entries.values()) {
      const { expiresAtMs } = entry.lease;
      if (expiresAtMs === null || expired.has(entry)) continue;
      if (now < expiresAtMs) {
        nextMs = Math.min(nextMs, expiresAtMs - now);
        continue;
      }
      expired.add(entry);
      end(entry, "expired");
      options.onExpired(entry.stored);
      changed = true;
    }
    if (changed) options.onChange();
    if (nextMs < Number.POSITIVE_INFINITY && !closed)
      sweepTimer = setTimeout(sweep, Math.min(nextMs, maxSweepMs)).unref();
  }

  /** Room for one more: what expired goes first; of the devices of local pages the one unseen for the longest. */
  function makeRoom(localOnly: boolean): void {
    if (entries.size >= maxDevices)
      for (const entry of entries.values()) if (entry.lease.ended) entries.delete(entry.stored.id);
    const pages = [...entries.values()].filter(({ stored }) => stored.local_only);
    if (localOnly && pages.length >= maxLocalOnlyDevices) {
      const seen = (entry: Entry): number => entry.lastSeenMs ?? Date.parse(entry.stored.created);
      const oldest = pages.reduce((a, b) => (seen(b) < seen(a) ? b : a));
      entries.delete(oldest.stored.id);
      end(oldest, "revoked");
    }
    if (entries.size >= maxDevices)
      throw new SallyportError(
        "overloaded",
        `${maxDevices} devices are paired, which is the most. Revoke some: sallyport devices`,
      );
  }

  for (const stored of options.devices) register(stored);
  sweep();

  return {
    get count() {
      return entries.size;
    },
    list: () => [...entries.values()].map((entry) => ({ stored: toStored(entry), lease: entry.lease })),
    get: (id) => entries.get(id) ?? null,
    async add(device) {
      makeRoom(device.local_only);
      const entry = register(device);
      try {
        await writer.save();
      } catch (error) {
        entries.delete(device.id);
        end(entry, "revoked");
        throw writeRefused(
          error,
          "The device could not be saved, so it was not paired. Free some disk space and try again.",
        );
      }
      sweep();
      options.onChange();
      return entry;
    },
    async update(id, changes) {
      const entry = existing(id);
      const newScopes = changes.scopes && scopeOrder.filter((scope) => changes.scopes?.includes(scope));
      if (newScopes) entry.scopes = new Set(newScopes);
      entry.stored = {
        ...entry.stored,
        ...(changes.name === undefined ? {} : { name: changes.name }),
        ...(newScopes ? { scopes: newScopes } : {}),
      };
      options.onChange();
      await writer.save().catch((error: unknown) => {
        throw writeRefused(
          error,
          "The change counts, but the disk refused it: it is tried again, and lost if the daemon ends before. Free some disk space.",
        );
      });
      return entry;
    },
    async revoke(id, { announceLater = false } = {}) {
      const entry = existing(id);
      entries.delete(id);
      entry.handle.markEnded("revoked");
      const announce = entry.handle.announceEnd;
      if (announceLater) setTimeout(announce, announceAtLatestMs).unref();
      else announce();
      options.onChange();
      await writer.save().catch((error: unknown) => {
        throw writeRefused(
          error,
          "The device is out, but the disk refused to note it: it is tried again, and the device is back if the daemon ends before. Free some disk space.",
        );
      });
      return { announce };
    },
    touch(id) {
      const entry = entries.get(id);
      if (!entry) return;
      entry.lastSeenMs = clock.now();
      if (closed) return;
      seenTimer ??= setTimeout(() => {
        seenTimer = null;
        // A failure was reported by the writer and is tried again by it.
        writer.save().catch(() => undefined);
      }, seenWriteMs).unref();
    },
    async close() {
      closed = true;
      if (sweepTimer) clearTimeout(sweepTimer);
      const seenUnwritten = seenTimer !== null;
      if (seenTimer) clearTimeout(seenTimer);
      seenTimer = null;
      if (seenUnwritten) await writer.save().catch(() => undefined);
      // The writer has reported why; there is nobody left to tell.
      await writer.close().catch(() => undefined);
    },
  };
}

/** The device as clients see it after pairing. */
export function toPairedDevice({
  id,
  name,
  kind,
  scopes,
  created,
  expires,
}: Readonly<StoredDevice>): PairedDevice {
  return { id, name, kind, scopes: [...scopes], created, expires };
}

import type { Lease } from "../../auth/principal.ts";
import { closeCodes } from "../../protocol/close-codes.ts";
import type { Admission } from "../admission.ts";
import { createHeldBytes, type HeldBytes, type HeldBytesBounds, holderOf } from "../held-bytes.ts";
import type { Connection } from "./connection.ts";

export interface SocketRegistryOptions {
  /** Told of a new count soon after it changed, at most once every `countIntervalMs`. */
  readonly onCount: (count: number) => void;
  readonly countIntervalMs: number;
  readonly incoming?: HeldBytesBounds;
  readonly outgoing?: HeldBytesBounds;
}

export type Dialect = "native" | "mew";

/** Every open socket, of both dialects. */
export interface SocketRegistry {
  readonly count: number;
  /** Bounds what half-read frames and bodies, and commands that wait, hold. */
  readonly incoming: HeldBytes;
  /** Bounds what replies that nobody fetches hold. */
  readonly outgoing: HeldBytes;
  /** How many sockets the same device, or the master, has. */
  countOf(lease: Lease): number;
  connectedCount(deviceId: string): number;
  /** How many of a dialect are open. */
  dialectCount(dialect: Dialect): number;
  add(connection: Connection, dialect: Dialect): void;
  /** Calls `listener` after each socket that ended. Returns how to stop. */
  onLeave(listener: () => void): () => void;
  /** Exposure was narrowed: every socket of a remote request closes with 4403, or those that `which` names. */
  closeRemote(which?: (admission: Admission) => boolean): void;
  /** Closes all with 1001, what waits for them first if it drains within `graceMs`. Resolves when all are gone. */
  shutdown(graceMs: number): Promise<void>;
}

const mebibyte = 1024 * 1024;
const incomingBounds = { maxBytes: 256 * mebibyte, maxHolderBytes: 64 * mebibyte };
const outgoingBounds = { maxBytes: 512 * mebibyte, maxHolderBytes: 128 * mebibyte };

/** Bounds that are left out: 256 MiB come in and 512 MiB wait to go out, of which one principal may hold a quarter. */
export function createSocketRegistry(options: SocketRegistryOptions): SocketRegistry {
  const connections = new Set<Connection>();
  const countByHolder = new Map<string, number>();
  const leaving = new Set<Promise<void>>();
  const dialectCounts: Record<Dialect, number> = { native: 0, mew: 0 };
  const leaveListeners = new Set<() => void>();
  let toldCount = 0;
  let timer: NodeJS.Timeout | null = null;

  function tellLater(delayMs: number): void {
    timer = setTimeout(() => {
      timer = null;
      if (connections.size === toldCount) return;
      toldCount = connections.size;
      options.onCount(toldCount);
      tellLater(options.countIntervalMs);
    }, delayMs);
    timer.unref();
  }
  function countHolder(connection: Connection, by: 1 | -1): void {
    const holder = holderOf(connection.lease);
    const count = (countByHolder.get(holder) ?? 0) + by;
    if (count === 0) countByHolder.delete(holder);
    else countByHolder.set(holder, count);
  }

  return {
    get count() {
      return connections.size;
    },
    incoming: createHeldBytes(options.incoming ?? incomingBounds),
    outgoing: createHeldBytes(options.outgoing ?? outgoingBounds),
    countOf: (lease) => countByHolder.get(holderOf(lease)) ?? 0,
    connectedCount: (deviceId) => countByHolder.get(deviceId) ?? 0,
    dialectCount: (dialect) => dialectCounts[dialect],
    onLeave(listener) {
      leaveListeners.add(listener);
      return () => leaveListeners.delete(listener);
    },
    add(connection, dialect) {
      connections.add(connection);
      countHolder(connection, 1);
      dialectCounts[dialect] += 1;
      connection.onEnd(() => {
        connections.delete(connection);
        countHolder(connection, -1);
        dialectCounts[dialect] -= 1;
        for (const listener of leaveListeners) listener();
        leaving.add(connection.gone);
        void connection.gone.then(() => leaving.delete(connection.gone));
        // Later than this loop turn: a revoke ends a thousand sockets at once, and none of them may be sent a thing.
        if (!timer) tellLater(0);
      });
      if (!timer) tellLater(0);
    },
    closeRemote(which = () => true) {
      for (const connection of [...connections])
        if (connection.admission.requestClass === "remote" && which(connection.admission))
          connection.end(closeCodes.exposureOff, "remote access was switched off");
    },
    async shutdown(graceMs) {
      for (const connection of [...connections])
        connection.endWhenDrained(closeCodes.goingAway, "shutting down", graceMs);
      await Promise.all([...[...connections].map((connection) => connection.gone), ...leaving]);
    },
  };
}

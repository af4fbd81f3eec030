import type { Change, ChangeBody } from "../protocol/changes.ts";

/** One change with its bytes, encoded once for all clients. */
export interface LoggedChange {
  readonly rev: number;
  readonly change: Change;
  /** JSON text for a principal with `admin`. */
  readonly forAdmin: Buffer;
  /** JSON text for everybody else: the same bytes, or a filtered copy (no pairing or login links). */
  readonly forOthers: Buffer;
}

export interface ChangeLog {
  readonly instance: string;
  /** Rev of the newest change; 0 before the first. */
  readonly rev: number;
  /** Appends one change and calls every listener before it returns. */
  append(body: ChangeBody): number;
  /** Changes after `rev`, oldest first; null when they left the ring, or `rev` is from the future. */
  since(rev: number): readonly LoggedChange[] | null;
  /** Listeners are called in order of subscription, synchronously; one that throws does not stop the others. */
  subscribe(listener: (logged: LoggedChange) => void): () => void;
}

export interface ChangeLogOptions {
  /** Random per process: a `rev` means something only together with it. */
  readonly instance: string;
  readonly maxCount: number;
  readonly maxBytes: number;
  /** Told of a listener that threw; the others are called all the same. */
  readonly onListenerError?: (error: unknown) => void;
}

/** Makes the one ordered stream of changes, with a ring of the newest for clients that come back. */
export function createChangeLog(options: ChangeLogOptions): ChangeLog {
  const ring: LoggedChange[] = [];
  let ringBytes = 0;
  let rev = 0;
  const listeners = new Set<(logged: LoggedChange) => void>();
  /** Changes that a listener caused: told to all when all have heard of the one before. */
  const untold: LoggedChange[] = [];
  let telling = false;

  function tell(logged: LoggedChange): void {
    untold.push(logged);
    if (telling) return;
    telling = true;
    for (let next = untold.shift(); next; next = untold.shift()) {
      for (const listener of listeners) {
        try {
          listener(next);
        } catch (error) {
          options.onListenerError?.(error);
        }
      }
    }
    telling = false;
  }

  function trim(): void {
    while (ring.length > options.maxCount || (ringBytes > options.maxBytes && ring.length > 1)) {
      const oldest = ring.shift();
      if (oldest) ringBytes -= oldest.forAdmin.byteLength;
    }
  }

  return {
    instance: options.instance,
    get rev() {
      return rev;
    },
    append(body) {
      rev += 1;
      const change: Change = { ...body, rev };
      const forAdmin = Buffer.from(JSON.stringify(change));
      const filtered = withoutLinks(body);
      const forOthers = filtered === body ? forAdmin : Buffer.from(JSON.stringify({ ...filtered, rev }));
      const logged = { rev, change, forAdmin, forOthers };
      ring.push(logged);
      ringBytes += forAdmin.byteLength;
      trim();
      tell(logged);
      return logged.rev;
    },
    since(from) {
      if (from > rev || from < 0) return null;
      if (from === rev) return [];
      const oldest = ring[0];
      if (!oldest || from < oldest.rev - 1) return null;
      return ring.slice(from - oldest.rev + 1);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Login links of a tunnel go to `admin` only. */
function withoutLinks(body: ChangeBody): ChangeBody {
  if (body.type !== "remote" || body.remote.tunnel.link === null) return body;
  return { ...body, remote: { ...body.remote, tunnel: { ...body.remote.tunnel, link: null } } };
}

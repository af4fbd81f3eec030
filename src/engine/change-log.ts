import type { Change, ChangeBody } from "../protocol/changes.ts";
import { withoutLoginLink } from "../protocol/login-link.ts";
import { createChangeRing } from "./change-ring.ts";

/** The JSON text of one change. The bytes are valid until the next `append`: who keeps them, copies them. */
export interface ChangeBytes {
  readonly rev: number;
  /** For a principal with `admin`. */
  readonly forAdmin: Buffer;
  /** For everybody else: the same bytes, or a filtered copy (no pairing or login links). */
  readonly forOthers: Buffer;
}

/** One change with its bytes, encoded once for all clients. */
export interface LoggedChange extends ChangeBytes {
  readonly change: Change;
}

export interface ChangeLog {
  readonly instance: string;
  /** Rev of the newest change; 0 before the first. */
  readonly rev: number;
  /** Appends one change and calls every listener before it returns. */
  append(body: ChangeBody): number;
  /** Changes after `rev`, oldest first; null when they left the ring, or `rev` is from the future. */
  since(rev: number): readonly ChangeBytes[] | null;
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
  const ring = createChangeRing(options);
  /** By rev: what others than `admin` get, where it differs. */
  const filteredBytes = new Map<number, Buffer>();
  let rev = 0;
  const listeners = new Set<(logged: LoggedChange) => void>();
  /** The change that is being told, and those that a listener caused: told to all when all have heard of the one before. */
  const untold: LoggedChange[] = [];

  function tell(logged: LoggedChange): void {
    untold.push(logged);
    if (untold.length > 1) return;
    for (let next = untold[0]; next; next = untold[0]) {
      for (const listener of listeners) {
        try {
          listener(untold[0] ?? next);
        } catch (error) {
          options.onListenerError?.(error);
        }
      }
      untold.shift();
    }
  }

  /** What others have yet to hear must outlive the next `push`. */
  function keepUntold(): void {
    for (const [at, logged] of untold.entries()) untold[at] = ownCopy(logged);
  }

  function forgetFiltered(): void {
    for (const held of filteredBytes.keys()) {
      if (held >= ring.oldest) return;
      filteredBytes.delete(held);
    }
  }

  return {
    instance: options.instance,
    get rev() {
      return rev;
    },
    append(body) {
      keepUntold();
      rev += 1;
      const change: Change = { ...body, rev };
      const forAdmin = ring.push(JSON.stringify(change));
      const filtered = withoutLinks(body);
      const forOthers = filtered === body ? forAdmin : Buffer.from(JSON.stringify({ ...filtered, rev }));
      if (forOthers !== forAdmin) filteredBytes.set(rev, forOthers);
      forgetFiltered();
      const appended = rev;
      tell({ rev, change, forAdmin, forOthers });
      return appended;
    },
    since(from) {
      if (from > rev || from < 0) return null;
      if (from === rev) return [];
      if (from < ring.oldest - 1) return null;
      return Array.from({ length: rev - from }, (_, at) => {
        const forAdmin = ring.get(from + 1 + at);
        return { rev: from + 1 + at, forAdmin, forOthers: filteredBytes.get(from + 1 + at) ?? forAdmin };
      });
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function ownCopy(logged: LoggedChange): LoggedChange {
  const forAdmin = Buffer.from(logged.forAdmin);
  return {
    ...logged,
    forAdmin,
    forOthers: logged.forOthers === logged.forAdmin ? forAdmin : logged.forOthers,
  };
}

/** Login links of a tunnel go to `admin` only. */
function withoutLinks(body: ChangeBody): ChangeBody {
  if (body.type !== "remote") return body;
  const remote = withoutLoginLink(body.remote);
  return remote === body.remote ? body : { ...body, remote };
}

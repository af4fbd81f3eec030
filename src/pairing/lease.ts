import type { Lease, LeaseEnd, Principal } from "../auth/principal.ts";
import type { Scope } from "../protocol/scopes.ts";

/** What a lease shows, read anew at each use. */
export interface LeaseSource {
  readonly principal: Principal;
  readonly name: () => string;
  readonly scopes: () => ReadonlySet<Scope>;
  readonly expiresAtMs: number | null;
  readonly localOnly: boolean;
  /** Epoch milliseconds: a lease counts as expired the moment its time has come, whatever a timer does. */
  readonly now: () => number;
  /** Told of a listener that threw; the others are called all the same. */
  readonly onListenerError: (error: unknown) => void;
}

export interface LeaseHandle {
  readonly lease: Lease;
  /** Ends the lease for every check from now on. The first end stays. Listeners hear of it by `announceEnd`. */
  markEnded(end: LeaseEnd): void;
  /** Calls the listeners, once. Without a mark before it does nothing. */
  announceEnd(): void;
}

/**
 * Makes the live view of a principal. Marking and announcing are two steps: a device that revokes itself is out before its
 * reply leaves, and its sockets are closed after it.
 */
export function createLease(source: LeaseSource): LeaseHandle {
  const listeners = new Set<(end: LeaseEnd) => void>();
  let marked: LeaseEnd | null = null;
  let announced = false;

  function call(listener: (end: LeaseEnd) => void, end: LeaseEnd): void {
    try {
      listener(end);
    } catch (error) {
      source.onListenerError(error);
    }
  }

  const lease: Lease = {
    principal: source.principal,
    expiresAtMs: source.expiresAtMs,
    localOnly: source.localOnly,
    get name() {
      return source.name();
    },
    get scopes() {
      return source.scopes();
    },
    get ended() {
      if (marked) return marked;
      return source.expiresAtMs !== null && source.now() >= source.expiresAtMs ? "expired" : null;
    },
    onEnd(listener) {
      if (announced && marked) {
        call(listener, marked);
        return () => undefined;
      }
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };

  return {
    lease,
    markEnded(end) {
      marked ??= end;
    },
    announceEnd() {
      if (!marked || announced) return;
      announced = true;
      const toCall = [...listeners];
      listeners.clear();
      for (const listener of toCall) call(listener, marked);
    },
  };
}

import type { Socket } from "node:net";
import type { Lease } from "../auth/principal.ts";
import { SallyportError } from "../errors.ts";
import { limits } from "../protocol/limits.ts";
import { createTokenBucket, type TokenBucket } from "./sockets/flood.ts";

/** Ten connections' worth: no client of one person needs more, and one that loops is stopped. */
const changesPerPrincipalPerSecond = 10 * limits.commandsPerSecond;
const maxPrincipals = 1_024;

export interface ChangeBudget {
  /** Throws `rate_limited` when this connection or this principal sends changes too fast. */
  spend(socket: Socket, lease: Lease, nowMs: number): void;
}

/** Bounds POST, PATCH and DELETE: `commandsPerSecond` a connection, ten times that a principal. Reads are not counted. */
export function createChangeBudget(): ChangeBudget {
  const bySocket = new WeakMap<Socket, TokenBucket>();
  const byPrincipal = new Map<string, TokenBucket>();

  function ofSocket(socket: Socket): TokenBucket {
    const known = bySocket.get(socket);
    if (known) return known;
    const made = createTokenBucket({
      capacity: limits.commandsPerSecond,
      perSecond: limits.commandsPerSecond,
    });
    bySocket.set(socket, made);
    return made;
  }
  function ofPrincipal(lease: Lease): TokenBucket {
    const key = lease.principal.kind === "device" ? lease.principal.device : "local";
    const known = byPrincipal.get(key);
    if (known) return known;
    const oldest = byPrincipal.size >= maxPrincipals ? byPrincipal.keys().next().value : undefined;
    if (oldest !== undefined) byPrincipal.delete(oldest);
    const made = createTokenBucket({
      capacity: changesPerPrincipalPerSecond,
      perSecond: changesPerPrincipalPerSecond,
    });
    byPrincipal.set(key, made);
    return made;
  }

  return {
    spend(socket, lease, nowMs) {
      if (ofSocket(socket).take(nowMs) && ofPrincipal(lease).take(nowMs)) return;
      throw new SallyportError(
        "rate_limited",
        `At most ${limits.commandsPerSecond} commands a second on one connection; wait and try again.`,
        { retryAfterSeconds: 1 },
      );
    },
  };
}

import type { Socket } from "node:net";
import { type FastifyRateLimitStore, fastifyRateLimit } from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { FixedWindow } from "../auth/fixed-window.ts";
import type { Lease } from "../auth/principal.ts";
import { SallyportError } from "../errors.ts";
import { limits } from "../protocol/limits.ts";
import { admissionOf } from "./admission.ts";
import { createTokenBucket, type TokenBucket } from "./sockets/flood.ts";

/** Ten connections' worth: no client of one person needs more, and one that loops is stopped. */
const changesPerPrincipalPerSecond = 10 * limits.commandsPerSecond;
const maxPrincipals = 1_024;
const windowMs = 1_000;

export interface ChangeBudget {
  /** Rejects with `rate_limited` when this connection or this principal sends changes too fast. */
  spend(request: FastifyRequest, nowMs: number): Promise<void>;
}

/**
 * Bounds POST, PATCH and DELETE: `commandsPerSecond` a connection, ten times that a principal. Reads are not counted, and
 * neither is who has no credential: the gate has counted him before a request of the framework existed.
 *
 * @param monotonicNow milliseconds
 */
export async function createChangeBudget(
  framework: FastifyInstance,
  monotonicNow: () => number = () => performance.now(),
): Promise<ChangeBudget> {
  const bySocket = new WeakMap<Socket, TokenBucket>();
  await framework.register(fastifyRateLimit, { global: false, store: storeOn(monotonicNow) });
  const countPrincipal = framework.createRateLimit({
    max: changesPerPrincipalPerSecond,
    timeWindow: windowMs,
    keyGenerator: (request) => keyOf(admissionOf(request.raw).lease),
  });

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

  return {
    async spend(request, nowMs) {
      if (ofSocket(request.raw.socket).take(nowMs)) {
        const counted = await countPrincipal(request);
        if (counted.isAllowed || !counted.isExceeded) return;
      }
      throw new SallyportError(
        "rate_limited",
        `At most ${limits.commandsPerSecond} commands a second on one connection; wait and try again.`,
        { retryAfterSeconds: 1 },
      );
    },
  };
}

function keyOf(lease: Lease | null): string {
  return lease?.principal.kind === "device" ? lease.principal.device : "local";
}

/**
 * The package's own store goes by the wall clock: one that is set back would keep a busy principal out until it has caught
 * up. This one counts as the gate does.
 */
function storeOn(monotonicNow: () => number): new () => FastifyRateLimitStore {
  return class MonotonicStore implements FastifyRateLimitStore {
    readonly #windows = new FixedWindow({ maxKeys: maxPrincipals, windowMs });

    incr(
      key: string,
      callback: (error: null, result: { readonly current: number; readonly ttl: number }) => void,
      _timeWindow: number,
      max: number,
    ): void {
      const nowMs = monotonicNow();
      const ttl = this.#windows.waitMs(key, max, nowMs);
      if (ttl > 0) {
        callback(null, { current: max + 1, ttl });
        return;
      }
      this.#windows.count(key, nowMs);
      callback(null, { current: max, ttl: windowMs });
    }

    child(): FastifyRateLimitStore {
      return new MonotonicStore();
    }
  };
}

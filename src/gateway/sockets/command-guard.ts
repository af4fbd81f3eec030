import { closeCodes } from "../../protocol/close-codes.ts";
import { limits } from "../../protocol/limits.ts";
import { leaseIsOver } from "../native/actor.ts";
import { closeForFlood } from "../respond.ts";
import type { Connection } from "./connection.ts";
import { createFloodMeter, createOccurrenceWindow, createTokenBucket } from "./flood.ts";

/** A frame over this is not parsed any more once the sender is over its rate: refusing must stay cheap. */
export const cheapFrameBytes = 64 * 1024;
const floodRetrySeconds = 10;

/** What every frame of a client passes before its dialect looks into it, the same in both. */
export interface CommandGuard {
  /** False, and the connection is closed, when its lease is over or lost `view`. */
  mayGoOn(): boolean;
  /** Takes one command of the rate; false: refuse it with the words of `rateMessage`, and call `refused`. */
  take(): boolean;
  /** One was refused for the rate; a flood of those closes the connection (4429). */
  refused(): void;
  /** One was malformed; twenty in a minute close the connection (4400). */
  malformed(): void;
}

export const rateMessage = `At most ${limits.commandsPerSecond} commands a second; wait and send it again.`;

/** One for each connection. `now` is epoch milliseconds. It closes the connection itself and answers nothing. */
export function createCommandGuard(connection: Connection, now: () => number): CommandGuard {
  const { lease } = connection;
  const perSecond = limits.commandsPerSecond;
  const budget = createTokenBucket({ capacity: perSecond, perSecond });
  const flood = createFloodMeter({ borne: 2_000, forgottenPerSecond: perSecond, sustainedMs: 10_000 });
  const malformed = createOccurrenceWindow({ max: limits.malformedFramesPerMinute, windowMs: 60_000 });

  return {
    mayGoOn() {
      if (leaseIsOver(lease, now()))
        connection.end(closeCodes.revoked, lease.ended ?? "expired", limits.revokeGraceMs);
      else if (!lease.scopes.has("view")) connection.end(closeCodes.exposureOff, "scope_missing");
      else return true;
      return false;
    },
    take: () => budget.take(now()),
    refused() {
      if (!flood.note(now())) return;
      const { code, reason } = closeForFlood(floodRetrySeconds);
      connection.end(code, reason);
    },
    malformed() {
      if (malformed.note(now())) connection.end(closeCodes.malformed, "too many malformed frames");
    },
  };
}

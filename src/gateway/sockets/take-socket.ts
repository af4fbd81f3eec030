import type { Log } from "../../lib/log.ts";
import { limits } from "../../protocol/limits.ts";
import { admissionOf } from "../admission.ts";
import { createAcceptor, refuseUpgrade, type UpgradeHandler } from "./accept.ts";
import { type Connection, type ConnectionTiming, connectionTiming, createConnection } from "./connection.ts";
import type { SocketRegistry } from "./registry.ts";

const maxSockets = 4_096;
/** One device must leave room for the others. */
const maxSocketsPerHolder = 1_024;

export interface TakeSocketOptions {
  readonly registry: SocketRegistry;
  readonly log: Log;
  readonly now: () => number;
  readonly timing?: ConnectionTiming;
  readonly maxQueueBytes?: number;
  /** Gives an open connection its dialect. What it throws closes the connection (1011). */
  readonly open: (connection: Connection, query: URLSearchParams) => void;
}

/** Makes a connection of each upgrade that passed the gate, up to the number of sockets that there may be. */
export function createSocketTaker(options: TakeSocketOptions): UpgradeHandler {
  const { registry, log, now } = options;
  const { accept } = createAcceptor();

  return (request, socket, head) => {
    const admission = admissionOf(request);
    const { lease } = admission;
    if (!lease) throw new TypeError("a socket is never public");
    if (registry.count >= maxSockets || registry.countOf(lease) >= maxSocketsPerHolder) {
      refuseUpgrade(socket, {
        code: "overloaded",
        message: "Too many sockets are open; close some.",
        retryAfterSeconds: 10,
      });
      return;
    }
    const query = new URLSearchParams(request.url?.split("?", 2)[1] ?? "");
    accept(request, socket, head, (ws) => {
      const connection = createConnection({
        ws,
        socket,
        admission,
        lease,
        log,
        now,
        timing: options.timing ?? connectionTiming,
        maxQueueBytes: options.maxQueueBytes ?? limits.clientQueueBytes,
        incoming: registry.incoming,
        outgoing: registry.outgoing,
      });
      if (!connection.open) return;
      try {
        options.open(connection, query);
      } catch (error) {
        log.error({ err: error }, "a socket could not be opened");
        connection.end(1011, "internal");
      }
    });
  };
}

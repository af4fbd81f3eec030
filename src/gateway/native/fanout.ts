import type { ChangeLog, LoggedChange } from "../../engine/change-log.ts";
import { closeCodes } from "../../protocol/close-codes.ts";
import type { Connection } from "../sockets/connection.ts";
import { textFrame } from "../sockets/frame.ts";

export interface Fanout {
  /** Forwards every change from now on, until the connection ends. */
  add(connection: Connection): void;
  close(): void;
}

/**
 * Forwards each change of the log to every connection, as one frame made of the log's own bytes. What a device may see is
 * judged by its scopes as they are at that moment; one that lost `view` is closed.
 */
export function createFanout(changeLog: ChangeLog): Fanout {
  const connections = new Set<Connection>();

  function forward(logged: LoggedChange): void {
    const isSame = logged.forOthers === logged.forAdmin;
    // Made when somebody takes it: who does not keep up costs no memory.
    let forAdmin: Buffer | null = null;
    let forOthers: Buffer | null = null;
    // The last that a client hears is worth a place beyond the bound.
    const isLast = logged.change.type === "shutdown";
    for (const connection of connections) {
      const { scopes } = connection.lease;
      if (!scopes.has("view")) connection.end(closeCodes.exposureOff, "scope_missing");
      else if (isLast) connection.sendReply(textFrame(logged.forOthers));
      else if (!connection.takesChanges) continue;
      else if (isSame || scopes.has("admin")) {
        forAdmin ??= textFrame(logged.forAdmin);
        connection.sendChange(forAdmin);
      } else {
        forOthers ??= textFrame(logged.forOthers);
        connection.sendChange(forOthers);
      }
    }
  }

  const stop = changeLog.subscribe(forward);
  return {
    add(connection) {
      connections.add(connection);
      connection.onEnd(() => connections.delete(connection));
    },
    close: stop,
  };
}

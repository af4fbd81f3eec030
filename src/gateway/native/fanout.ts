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

  function isWanted(): boolean {
    for (const connection of connections) if (connection.takesChanges) return true;
    return false;
  }

  function forward(logged: LoggedChange): void {
    // The last that a client hears is worth a place beyond the bound.
    const isLast = logged.change.type === "shutdown";
    // While nobody keeps up, no frame is made: what is made to be dropped costs memory.
    if (!isLast && !isWanted()) {
      endBlind();
      return;
    }
    const forAdmin = textFrame(logged.forAdmin);
    const forOthers = logged.forOthers === logged.forAdmin ? forAdmin : textFrame(logged.forOthers);
    for (const connection of connections) {
      const { scopes } = connection.lease;
      if (!scopes.has("view")) connection.end(closeCodes.exposureOff, "scope_missing");
      else if (isLast) connection.sendReply(forOthers);
      else connection.sendChange(forAdmin === forOthers || scopes.has("admin") ? forAdmin : forOthers);
    }
  }

  function endBlind(): void {
    for (const connection of connections)
      if (!connection.lease.scopes.has("view")) connection.end(closeCodes.exposureOff, "scope_missing");
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

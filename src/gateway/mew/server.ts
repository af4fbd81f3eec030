import type { ScopeRow } from "../../auth/scope-table.ts";
import type { ChangeLog } from "../../engine/change-log.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Log } from "../../lib/log.ts";
import { actorOf } from "../native/actor.ts";
import type { UpgradeHandler } from "../sockets/accept.ts";
import type { ConnectionTiming } from "../sockets/connection.ts";
import type { SocketRegistry } from "../sockets/registry.ts";
import { createSocketTaker } from "../sockets/take-socket.ts";
import { createMewClient } from "./client.ts";
import { createFewAtOnce } from "./few-at-once.ts";
import { createMewHub } from "./hub.ts";
import { createMessageTable, type MewHandlers } from "./message-table.ts";
import { fileMessages } from "./messages/file-messages.ts";
import { jobMessages } from "./messages/job-messages.ts";
import { requestMessages } from "./messages/request-messages.ts";
import { sessionMessages } from "./messages/session-messages.ts";
import { settingMessages } from "./messages/setting-messages.ts";
import { slashMessages } from "./messages/slash-command.ts";
import { turnMessages } from "./messages/turn-messages.ts";
import { createMewDialect } from "./session.ts";
import { createSharedReads } from "./shared-reads.ts";
import type { ShownHistory } from "./show-session.ts";

export interface MewServerOptions {
  readonly engine: Engine;
  readonly changeLog: ChangeLog;
  readonly registry: SocketRegistry;
  readonly mewScopes: Readonly<Record<string, ScopeRow>>;
  readonly version: string;
  /** How long a session stays loaded without a client; -1: for ever. Read at each use. */
  readonly detachGraceSeconds: () => number;
  readonly log: Log;
  readonly now?: () => number;
  readonly timing?: ConnectionTiming;
  readonly maxQueueBytes?: number;
}

export interface MewServer {
  /** For `/mew` and `/`. */
  readonly upgrade: UpgradeHandler;
  /** Stops forwarding changes. */
  close(): void;
}

/** One more than one, so that a slow disk under one session does not hold up all others. */
const readsAtOnce = 2;

const handlers: MewHandlers = {
  ...sessionMessages,
  ...turnMessages,
  ...requestMessages,
  ...settingMessages,
  ...slashMessages,
  ...jobMessages,
  ...fileMessages,
};

/** The mew dialect over the same engine: a session is an agent (docs/protocol.md, "The mew dialect"). */
export function createMewServer(options: MewServerOptions): MewServer {
  const { engine, registry, log, version } = options;
  const now = options.now ?? Date.now;
  const table = createMessageTable(handlers, options.mewScopes);
  const fewReads = createFewAtOnce(readsAtOnce);
  const histories = createSharedReads<ShownHistory>();
  const hub = createMewHub({
    engine,
    changeLog: options.changeLog,
    registry,
    detachGraceSeconds: options.detachGraceSeconds,
    log,
  });

  return {
    upgrade: createSocketTaker({
      registry,
      log,
      now,
      ...(options.timing === undefined ? {} : { timing: options.timing }),
      ...(options.maxQueueBytes === undefined ? {} : { maxQueueBytes: options.maxQueueBytes }),
      open(connection) {
        registry.add(connection, "mew");
        const client = createMewClient(connection, actorOf(connection.lease, now));
        const context = { client, engine, hub, fewReads, histories, version };
        connection.start(createMewDialect({ context, table, log, now }));
      },
    }),
    close: () => hub.close(),
  };
}

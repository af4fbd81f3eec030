import type { ScopeRow } from "../../auth/scope-table.ts";
import type { ChangeLog } from "../../engine/change-log.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Log } from "../../lib/log.ts";
import { limits } from "../../protocol/limits.ts";
import type { Awake, AwakeMode } from "../../protocol/objects.ts";
import { admissionOf } from "../admission.ts";
import { createAcceptor, refuseUpgrade, type UpgradeHandler } from "../sockets/accept.ts";
import {
  type Connection,
  type ConnectionTiming,
  connectionTiming,
  createConnection,
} from "../sockets/connection.ts";
import { textFrame } from "../sockets/frame.ts";
import type { SocketRegistry } from "../sockets/registry.ts";
import { type CommandTable, createCommandTable } from "./command-table.ts";
import { createCommandHandlers } from "./commands.ts";
import { createFanout } from "./fanout.ts";
import { createFollows } from "./follows.ts";
import { createOpenWorkspaces } from "./open-workspaces.ts";
import { createNativeSession } from "./session.ts";
import {
  createSnapshotViews,
  type DaemonFacts,
  ownSnapshot,
  readSince,
  type SnapshotViews,
} from "./snapshot-view.ts";

const maxSockets = 4_096;
/** One device must leave room for the others. */
const maxSocketsPerHolder = 1_024;

export interface NativeServerOptions {
  readonly engine: Engine;
  readonly changeLog: ChangeLog;
  readonly facts: DaemonFacts;
  readonly registry: SocketRegistry;
  readonly commandScopes: Readonly<Record<string, ScopeRow>>;
  readonly setAwake: (mode: AwakeMode) => Promise<Awake>;
  readonly log: Log;
  readonly now?: () => number;
  readonly timing?: ConnectionTiming;
  readonly maxQueueBytes?: number;
}

export interface NativeServer {
  /** For `/api/ws`. */
  readonly upgrade: UpgradeHandler;
  /** The same commands for `POST /api/command`. */
  readonly table: CommandTable;
  readonly views: SnapshotViews;
  /** Stops forwarding changes. */
  close(): void;
}

/** The native dialect: snapshot first, then every change of the log, and replies to commands (docs/protocol.md). */
export function createNativeServer(options: NativeServerOptions): NativeServer {
  const { engine, changeLog, facts, registry, log } = options;
  const now = options.now ?? Date.now;
  const views = createSnapshotViews({ engine, changeLog, facts });
  const openWorkspaces = createOpenWorkspaces();
  const handlers = createCommandHandlers({ engine, views, openWorkspaces, setAwake: options.setAwake, now });
  const table = createCommandTable(handlers, options.commandScopes);
  const fanout = createFanout(changeLog);
  const { accept } = createAcceptor();

  /** Nothing may come between the snapshot and the first change that is forwarded: all of this is one step. */
  function open(connection: Connection, query: URLSearchParams): void {
    registry.add(connection);
    const { lease } = connection;
    const missed = views.missed(lease, readSince(query.get("since")), query.get("instance"));
    // A connection that comes back names the workspace that it had; one that is gone is the last used.
    const workspace = query.get("workspace");
    const full = missed ? null : ownSnapshot(views, lease, { workspace, rawVersion: query.get("version") });
    const isKnown = engine.places.list().some((row) => row.id === workspace);
    const wanted = isKnown ? workspace : null;
    const follows = createFollows(engine, connection);
    connection.start(
      createNativeSession({
        connection,
        table,
        follows,
        workspace: openWorkspaces.add(full?.workspace.id ?? wanted ?? engine.places.last()),
        rev: () => changeLog.rev,
        log,
        now,
      }),
    );
    connection.sendReply(textFrame(missed ? missed.bytes : JSON.stringify(full)));
    fanout.add(connection);
  }

  return {
    table,
    views,
    upgrade(request, socket, head) {
      const admission = admissionOf(request);
      const { lease } = admission;
      if (!lease) throw new TypeError("the native socket is never public");
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
          open(connection, query);
        } catch (error) {
          log.error({ err: error }, "a socket could not be given its snapshot");
          connection.end(1011, "internal");
        }
      });
    },
    close: () => fanout.close(),
  };
}

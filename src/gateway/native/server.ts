import type { ScopeRow } from "../../auth/scope-table.ts";
import type { ChangeLog } from "../../engine/change-log.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Log } from "../../lib/log.ts";
import type { Awake, AwakeMode } from "../../protocol/objects.ts";
import type { UpgradeHandler } from "../sockets/accept.ts";
import type { Connection, ConnectionTiming } from "../sockets/connection.ts";
import { textFrame } from "../sockets/frame.ts";
import type { SocketRegistry } from "../sockets/registry.ts";
import { createSocketTaker } from "../sockets/take-socket.ts";
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

  /** Nothing may come between the snapshot and the first change that is forwarded: all of this is one step. */
  function open(connection: Connection, query: URLSearchParams): void {
    registry.add(connection, "native");
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
    upgrade: createSocketTaker({
      registry,
      log,
      now,
      ...(options.timing === undefined ? {} : { timing: options.timing }),
      ...(options.maxQueueBytes === undefined ? {} : { maxQueueBytes: options.maxQueueBytes }),
      open,
    }),
    close: () => fanout.close(),
  };
}

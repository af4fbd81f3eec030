import type { Actor } from "../../engine/actor.ts";
import type { ChangeLog } from "../../engine/change-log.ts";
import type { Engine } from "../../engine/engine.ts";
import { SallyportError } from "../../errors.ts";
import type { Log } from "../../lib/log.ts";
import type { Change } from "../../protocol/changes.ts";
import { closeCodes } from "../../protocol/close-codes.ts";
import type { MewServerMessage } from "../../protocol/mew/server-messages.ts";
import type { SessionRow } from "../../protocol/rest-objects.ts";
import type { SocketRegistry } from "../sockets/registry.ts";
import type { MewClient, MewSession } from "./attachment.ts";
import { afterLong, cancelsTurn, type DetachedFacts, mayUnload } from "./detach-rules.ts";
import { createLiveSession, takeAgent, takeTab } from "./live-session.ts";
import { createDelivery, type MewDelivery } from "./translate/delivery.ts";
import { createTranslator, type MewTranslator } from "./translate/translator.ts";

export interface MewHubOptions {
  readonly engine: Engine;
  readonly changeLog: ChangeLog;
  readonly registry: Pick<SocketRegistry, "dialectCount" | "onLeave">;
  /** How long a session stays loaded without a client; -1: for ever. Read at each use. */
  readonly detachGraceSeconds: () => number;
  readonly log: Log;
}

/** Who is attached to what, and what each of them is told. */
export interface MewHub {
  readonly translator: MewTranslator;
  find(agent: string): MewSession | null;
  /** Attaches a client; it leaves what it was attached to. Throws `conflict` where the client has left meanwhile. */
  join(client: MewClient, row: SessionRow): MewSession;
  /** Of a session that was loaded for a client which is not attached: unloads it like one that its last client has left. */
  watch(row: SessionRow): void;
  /** Tells the others of a session that a client came; once it was given the history. */
  welcome(client: MewClient): void;
  leave(client: MewClient): void;
  /** Its connection has ended: what it sent before still counts for its session. */
  depart(client: MewClient): void;
  /** A turn was begun by the legacy `Prompt`, maybe of a client that has left meanwhile. */
  prompted(session: MewSession, turn: string): void;
  close(): void;
}

/** The daemon itself. */
const daemon: Actor = { by: { device: null, name: "local" }, has: () => true, assertLive: () => undefined };

/**
 * Translates every change once and gives each message to the clients that it is for: one frame for each spelling. It sees
 * all changes from the daemon's start on, so that it knows each turn from its beginning.
 */
export function createMewHub(options: MewHubOptions): MewHub {
  const { engine, log, registry } = options;
  const translator = createTranslator();
  const sessions = new Map<string, MewSession>();
  let closed = false;

  function failed(what: string): (error: unknown) => void {
    return (error) => log.warn({ err: error }, `a session of the mew dialect: ${what}`);
  }

  function deliverTo(client: MewClient, delivery: MewDelivery, change: Change | null): void {
    if (!client.connection.lease.scopes.has("view")) {
      client.connection.end(closeCodes.exposureOff, "scope_missing");
      return;
    }
    const own = change?.type === "event" && change.event.agent === client.session?.agent;
    client.deliver(delivery, own ? change.event.seq : null);
  }

  function deliver(delivery: MewDelivery, change: Change | null): void {
    const { audience } = delivery;
    if (audience.to === "session") {
      const session = sessions.get(audience.agent);
      if (session) for (const client of session.clients.keys()) deliverTo(client, delivery, change);
      return;
    }
    for (const session of sessions.values())
      if (audience.to === "all" || session.tab === audience.tab)
        for (const client of session.clients.keys()) deliverTo(client, delivery, change);
  }

  function tell(session: MewSession, message: MewServerMessage): void {
    deliver(createDelivery({ to: "session", agent: session.agent }, message), null);
  }

  function track(change: Change): void {
    switch (change.type) {
      case "agent_updated": {
        const session = sessions.get(change.agent.id);
        if (!session) return;
        takeAgent(session, change.agent);
        if (session.unloads) unloadSoon(session);
        return;
      }
      case "tab_updated":
      case "mode":
        for (const session of sessions.values()) {
          if (change.type === "mode" && session.tab === change.tab) session.mode = change.mode;
          if (change.type === "tab_updated" && session.tab === change.tab.id) takeTab(session, change.tab);
        }
        return;
      case "session_deleted": {
        const session = sessions.get(change.session);
        if (session) forget(session);
        return;
      }
      case "event":
        if (change.event.type === "turn_finished" && change.event.agent !== null) {
          const session = sessions.get(change.event.agent);
          if (session) makeTitle(session, change.event);
        }
        return;
      default:
    }
  }

  /** After the turn that a client prompted, a session without a title gets one. */
  function makeTitle(session: MewSession, end: { readonly turn: string; readonly outcome: string }): void {
    const { untitled } = session;
    if (untitled?.turn !== end.turn) return;
    session.untitled = null;
    if (end.outcome !== "done" || session.title !== null) return;
    engine.sessions
      .regenerateTitle(session.agent, untitled.actor)
      .catch(failed("it could not be given a title"));
  }

  function forget(session: MewSession): void {
    session.stopGrace?.();
    sessions.delete(session.agent);
    for (const client of session.clients.keys()) {
      client.session = null;
      client.send({ type: "error", message: "This session was deleted." });
    }
    session.clients.clear();
  }

  const factsOf = (session: MewSession): DetachedFacts => ({
    mewClients: session.clients.size,
    nativeClients: registry.dialectCount("native"),
    turn: session.turn,
    queued: session.queued,
  });

  function graceEnded(session: MewSession): void {
    session.stopGrace = null;
    if (closed || session.clients.size > 0) return;
    session.unloads = true;
    if (cancelsTurn(factsOf(session), session.legacyTurn))
      engine.cancel(session.agent, daemon).catch(failed("its turn could not be cancelled"));
    else unloadSoon(session);
  }

  /** Not in the middle of a change, or of the end of many sockets. */
  function unloadSoon(session: MewSession): void {
    setImmediate(() => {
      if (closed || !session.unloads || sessions.get(session.agent) !== session) return;
      if (!mayUnload(factsOf(session))) return;
      sessions.delete(session.agent);
      engine.sessions.unload(session.agent).catch(failed("it could not be unloaded"));
    });
  }

  function detached(session: MewSession): void {
    const graceSeconds = options.detachGraceSeconds();
    if (graceSeconds < 0) {
      // Whether its turn came by a legacy prompt does not matter any more.
      sessions.delete(session.agent);
      return;
    }
    session.stopGrace = afterLong(graceSeconds * 1_000, () => graceEnded(session));
  }

  function watch(row: SessionRow): void {
    if (closed || sessions.has(row.id)) return;
    const session = createLiveSession(row);
    sessions.set(row.id, session);
    refresh(session);
    detached(session);
  }

  function depart(client: MewClient): void {
    const { session } = client;
    const id = session?.clients.get(client);
    if (!session || id === undefined) return;
    // Later: of many sockets of a device that was revoked, none is sent a thing about the others.
    const told = [...session.clients.keys()];
    session.clients.delete(client);
    setImmediate(() => {
      const delivery = createDelivery({ to: "all" }, { type: "client_detached", client_id: id });
      for (const other of told) if (other.connection.open) deliverTo(other, delivery, null);
    });
    if (session.clients.size === 0 && !closed) detached(session);
  }

  function leave(client: MewClient): void {
    depart(client);
    client.session = null;
  }

  const stop = options.changeLog.subscribe(({ change }) => {
    const deliveries = translator.take(change);
    track(change);
    if (sessions.size > 0) for (const delivery of deliveries) deliver(delivery, change);
  });
  const stopLeave = registry.onLeave(() => {
    if (registry.dialectCount("native") > 0) return;
    for (const session of sessions.values()) if (session.unloads) unloadSoon(session);
  });

  return {
    translator,
    find: (agent) => sessions.get(agent) ?? null,
    join(client, row) {
      if (!client.connection.open) {
        watch(row);
        throw new SallyportError("conflict", "The connection has ended.");
      }
      translator.learn(row);
      if (client.session?.agent === row.id) return client.session;
      leave(client);
      const session = sessions.get(row.id) ?? createLiveSession(row);
      sessions.set(row.id, session);
      session.stopGrace?.();
      session.stopGrace = null;
      session.unloads = false;
      refresh(session);
      session.clients.set(client, session.nextClientId);
      session.nextClientId += 1;
      client.session = session;
      return session;
    },
    welcome(client) {
      const { session } = client;
      const id = session?.clients.get(client);
      if (!session || id === undefined) return;
      for (const [other, otherId] of session.clients)
        if (other !== client)
          client.send({ type: "client_attached", client_id: otherId, client_kind: other.kind });
      if (session.clients.size > 1)
        tell(session, { type: "client_attached", client_id: id, client_kind: client.kind });
    },
    watch,
    leave,
    depart,
    prompted(known, turn) {
      const session = sessions.get(known.agent) ?? known;
      session.legacyTurn = turn;
      if (session.clients.size > 0 || session.stopGrace || options.detachGraceSeconds() < 0) return;
      // Nobody was there any more when it was accepted, and the session may have been unloaded.
      sessions.set(session.agent, session);
      refresh(session);
      graceEnded(session);
    },
    close() {
      closed = true;
      stop();
      stopLeave();
      for (const session of sessions.values()) session.stopGrace?.();
      sessions.clear();
    },
  };

  /** What the engine says of the agent and its tab at this moment. */
  function refresh(session: MewSession): void {
    for (const { id } of engine.places.list())
      for (const tab of engine.snapshot(id).workspace.tabs) {
        const agent = tab.agents.find((each) => each.id === session.agent);
        if (!agent) continue;
        takeAgent(session, agent);
        takeTab(session, tab);
        return;
      }
  }
}

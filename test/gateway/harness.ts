import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Lease, LeaseEnd, RequestClass } from "../../src/auth/principal.ts";
import { commandScopes } from "../../src/auth/scope-table.ts";
import type { Actor } from "../../src/engine/actor.ts";
import { type ChangeLog, createChangeLog } from "../../src/engine/change-log.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { SallyportError } from "../../src/errors.ts";
import { admit } from "../../src/gateway/admission.ts";
import { type App, type AppOptions, createApp } from "../../src/gateway/app.ts";
import type { HeldBytesBounds } from "../../src/gateway/held-bytes.ts";
import { createNativeServer, type NativeServer } from "../../src/gateway/native/server.ts";
import type { DaemonFacts } from "../../src/gateway/native/snapshot-view.ts";
import type { Route } from "../../src/gateway/route.ts";
import { commandRoutes } from "../../src/gateway/routes/command.ts";
import { daemonRoutes } from "../../src/gateway/routes/daemon.ts";
import { jobRoutes } from "../../src/gateway/routes/jobs.ts";
import { remoteRoutes } from "../../src/gateway/routes/remote.ts";
import { sessionRoutes } from "../../src/gateway/routes/sessions.ts";
import { snapshotRoutes } from "../../src/gateway/routes/snapshot.ts";
import type { ConnectionTiming } from "../../src/gateway/sockets/connection.ts";
import { createSocketRegistry, type SocketRegistry } from "../../src/gateway/sockets/registry.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Log } from "../../src/lib/log.ts";
import type { Access, Awake, Job, Remote, Tab } from "../../src/protocol/objects.ts";
import type { Scope } from "../../src/protocol/scopes.ts";
import { fakeLibrary } from "./fake-library.ts";
import { fakePlaces } from "./fake-places.ts";
import { fakeSessions } from "./fake-sessions.ts";

export interface TestLease extends Lease {
  scopes: Set<Scope>;
  end(why: LeaseEnd): void;
}

export function deviceLease(scopes: readonly Scope[] = ["view", "drive", "approve", "admin"]): TestLease {
  const listeners = new Set<(why: LeaseEnd) => void>();
  let ended: LeaseEnd | null = null;
  return {
    principal: { kind: "device", device: newId() },
    name: "Pixel phone",
    scopes: new Set(scopes),
    expiresAtMs: null,
    localOnly: false,
    get ended() {
      return ended;
    },
    onEnd(listener) {
      if (ended) listener(ended);
      else listeners.add(listener);
      return () => listeners.delete(listener);
    },
    end(why) {
      ended = why;
      for (const listener of [...listeners]) listener(why);
    },
  };
}

export function masterLease(): TestLease {
  return { ...deviceLease(), principal: { kind: "master" }, name: "local" };
}

const at = "2026-11-30T10:00:00.000Z";
export const workspaceId = newId();
const tab: Tab = {
  id: newId(),
  workspace: workspaceId,
  name: "api",
  cwd: "/srv/api",
  mode: "ask",
  runtime: "shell",
  trusted: true,
  loaded: true,
  active_agent: null,
  project: null,
};
const row = { id: workspaceId, name: "main", tabs: 1, used: at, active_tab: tab.id };
export const job: Job = {
  id: "3fa9c210",
  workspace: workspaceId,
  tab: tab.id,
  agent: null,
  command: "npm test",
  cwd: "/srv/api",
  pid: 4711,
  state: "running",
  exit_code: null,
  reason: null,
  started: at,
  ended: null,
  bytes: 0,
};

export interface FakeEngine extends Engine {
  /** Names of the methods that changed something, in order. */
  readonly calls: string[];
  readonly actors: Actor[];
  counted: { running_agents: number; running_jobs: number };
  /** What `followJob` was given, by job. */
  readonly followers: Map<string, (size: number, running: boolean) => void>;
  /** Holds `prompt` back until it is called. */
  hold: Promise<void> | null;
}

/** An engine without processes: it announces each call on the log, then answers. */
export function fakeEngine(log: ChangeLog): FakeEngine {
  const calls: string[] = [];
  const actors: Actor[] = [];
  const followers = new Map<string, (size: number, running: boolean) => void>();
  function changed(name: string, actor: Actor): void {
    actor.assertLive();
    calls.push(name);
    actors.push(actor);
    log.append({ type: "notice", message: name });
  }
  const engine: FakeEngine = {
    library: fakeLibrary(),
    sessions: fakeSessions(),
    places: fakePlaces(row, tab, changed),
    calls,
    actors,
    followers,
    counted: { running_agents: 0, running_jobs: 0 },
    hold: null,
    snapshot(id) {
      if (id !== undefined && id !== workspaceId) throw new SallyportError("not_found", "No such workspace.");
      return {
        rev: log.rev,
        instance: log.instance,
        workspaces: [row],
        workspace: { id: workspaceId, name: "main", active_tab: tab.id, tabs: [{ ...tab, agents: [] }] },
        pending: [],
        questions: [],
        jobs: [job],
      };
    },
    counts: () => ({ workspaces: 1, loaded_tabs: 1, pending: 0, ...engine.counted }),
    async prompt(command, actor) {
      if (engine.hold) await engine.hold;
      if (command.text === "explode") throw new Error("secret detail of the machine");
      if (command.text === "busy") throw new SallyportError("conflict", "It is busy.", { reason: "busy" });
      changed(`prompt ${command.text}`, actor);
      const ids = { workspace: workspaceId, tab: tab.id, agent: newId(), turn: newId() };
      return { request_id: command.request_id ?? null, status: "accepted", ...ids };
    },
    receipt: (request_id) => ({ request_id, status: "unknown", agent: null, turn: null, message: null }),
    cancel: async (_id, actor) => changed("cancel", actor),
    approve: async (_command, actor) => changed("approve", actor),
    answer: async (_command, actor) => changed("answer", actor),
    async setMode(command, actor) {
      changed("mode", actor);
      return { ...tab, mode: command.mode };
    },
    async startAgent(_command, actor) {
      changed("agent_start", actor);
      const row = { id: newId(), tab: tab.id, parent: null, label: null, title: null, runtime: "shell" };
      return { ...row, model: null, state: "idle", live: true, turn: null, queued: false, updated: at };
    },
    openAgent: (_command, actor) => engine.startAgent({ type: "agent_start" }, actor),
    activateAgent: (_command, actor) => engine.startAgent({ type: "agent_start" }, actor),
    setModel: (_command, actor) => engine.startAgent({ type: "agent_start" }, actor),
    async compact(command, actor) {
      changed("compact", actor);
      return { workspace: workspaceId, tab: tab.id, agent: command.agent, turn: newId() };
    },
    closeAgent: async (_id, actor) => changed("agent_close", actor),
    async createTab(_command, actor) {
      changed("tab_create", actor);
      return tab;
    },
    closeTab: async (_id, actor) => changed("tab_close", actor),
    async startJob(_command, actor) {
      changed("job_start", actor);
      return actor.has("approve") ? { job } : { request_id: newId() };
    },
    listJobs: () => [job],
    async readJob(read) {
      if (read.job !== job.id) throw new SallyportError("not_found", "No such job.");
      const offset = read.offset ?? 0;
      if (offset < 0) throw new SallyportError("invalid_field", "Bad offset.", { field: "offset" });
      const output = "x".repeat(read.limit ?? 10);
      const end = offset + output.length;
      const flags = { done: false, incomplete: false };
      return { type: "job_output", job: job.id, offset, next_offset: end, size: end, output, ...flags };
    },
    followJob(id, more) {
      if (id !== job.id) throw new SallyportError("not_found", "No such job.");
      followers.set(id, more);
      more(job.bytes, true);
      return () => followers.delete(id);
    },
    killJob: async (_id, actor) => changed("job_kill", actor),
    readSession: async (_id, page) => ({
      records: [],
      before: page.before ?? null,
      seq: page.limit ?? 0,
      streaming: null,
      damaged_records: 0,
    }),
    close: async () => undefined,
  };
  return engine;
}

export interface TestApp {
  readonly base: string;
  readonly port: number;
  readonly app: App;
  readonly native: NativeServer;
  readonly registry: SocketRegistry;
  readonly changeLog: ChangeLog;
  readonly engine: FakeEngine;
  /** Whom the next requests come from; null: a public route. */
  caller: { lease: Lease | null; requestClass: RequestClass };
  readonly logged: { readonly level: string; readonly fields: object; readonly message: string }[];
  readonly stops: { restart: boolean }[];
  /** Sockets that the server accepted, oldest first. */
  readonly sockets: Socket[];
  /** The server's end of a client's connection; a stray one from elsewhere may stand between ours. */
  socketOf(client: Socket): Socket | undefined;
  remote: Remote;
  close(): Promise<void>;
}

export interface TestAppOptions {
  readonly lease?: Lease | null;
  readonly routes?: readonly Route[];
  readonly app?: Partial<AppOptions>;
  readonly timing?: ConnectionTiming;
  readonly maxQueueBytes?: number;
  readonly incoming?: HeldBytesBounds;
  readonly outgoing?: HeldBytesBounds;
  readonly now?: () => number;
}

/** The application on a real port, behind a gate that admits everybody as `caller`. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const logged: TestApp["logged"] = [];
  const note = (level: string) => (fields: object, message: string) =>
    void logged.push({ level, fields, message });
  const log: Log = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") };
  const changeLog = createChangeLog({ instance: newId(), maxCount: 100, maxBytes: 64 * 1024 });
  const engine = fakeEngine(changeLog);
  const stops: { restart: boolean }[] = [];
  const tunnel = {
    provider: "ssh",
    state: "waiting",
    url: null,
    text: "To log in, visit: https://login.example/secret",
    reason: null,
    next_try: null,
  };
  const state = {
    remote: {
      access: "on" as Access,
      bound: ["127.0.0.1:7700"],
      addresses: [],
      tunnel: { ...tunnel, link: "https://login.example/secret" },
      devices: 1,
    } as Remote,
    awake: { mode: "off", active: false, available: true } as Awake,
  };
  const registry = createSocketRegistry({
    onCount: (count) => changeLog.append({ type: "clients", count }),
    countIntervalMs: 20,
    ...(options.incoming ? { incoming: options.incoming } : {}),
    ...(options.outgoing ? { outgoing: options.outgoing } : {}),
  });
  const facts: DaemonFacts = {
    version: "1.2.3",
    pid: 68119,
    started: at,
    idleMinutes: null,
    remote: () => state.remote,
    awake: () => state.awake,
    clients: () => registry.count,
  };
  const now = options.now ?? Date.now;
  const native = createNativeServer({
    engine,
    changeLog,
    facts,
    registry,
    commandScopes,
    async setAwake(mode) {
      state.awake = { mode, active: mode === "always", available: true };
      changeLog.append({ type: "awake", ...state.awake });
      return state.awake;
    },
    log,
    now,
    ...(options.timing ? { timing: options.timing } : {}),
    ...(options.maxQueueBytes === undefined ? {} : { maxQueueBytes: options.maxQueueBytes }),
  });
  const app = await createApp({
    routes: options.routes ?? [
      ...daemonRoutes({ engine, changeLog, facts, stop: (how) => void stops.push(how) }),
      ...remoteRoutes({
        remote: facts.remote,
        setAccess: async (access) => {
          state.remote = { ...state.remote, access };
          return state.remote;
        },
      }),
      ...snapshotRoutes(native.views),
      ...commandRoutes(native.table, now),
      ...jobRoutes(engine),
      ...sessionRoutes(engine),
    ],
    sockets: new Map([["/api/ws", native.upgrade]]),
    incoming: registry.incoming,
    staticFiles: new Map(),
    log,
    now,
    ...options.app,
  });

  const lease = options.lease === undefined ? deviceLease() : options.lease;
  const caller: TestApp["caller"] = { lease, requestClass: "remote" };
  const sockets: Socket[] = [];
  const admission = () => ({ ...caller, door: "main", clientAddress: "127.0.0.1" });
  const server: Server = createServer((request, response) => {
    admit(request, admission());
    app.routing(request, response);
  });
  server.on("connection", (socket) => sockets.push(socket));
  server.on("upgrade", (request, socket, head) => {
    admit(request, admission());
    app.server.emit("upgrade", request, socket, head);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  const testApp: TestApp = {
    base: `http://127.0.0.1:${port}`,
    port,
    app,
    native,
    registry,
    changeLog,
    engine,
    caller,
    logged,
    stops,
    sockets,
    socketOf: ({ localPort }) => sockets.findLast(({ remotePort }) => remotePort === localPort),
    get remote() {
      return state.remote;
    },
    set remote(remote) {
      state.remote = remote;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      native.close();
      await app.close();
    },
  };
  return testApp;
}

import { commandScopes, mewScopes, routeScopes } from "../auth/scope-table.ts";
import { homePaths } from "../config/home-paths.ts";
import { createApp } from "../gateway/app.ts";
import { closeGraceMs, createGateway } from "../gateway/gate-server.ts";
import { createMewServer } from "../gateway/mew/server.ts";
import { createNativeServer } from "../gateway/native/server.ts";
import type { DaemonFacts } from "../gateway/native/snapshot-view.ts";
import { createSocketRegistry } from "../gateway/sockets/registry.ts";
import { isStaticPath, loadStaticFiles } from "../gateway/static.ts";
import { toTime } from "../lib/clock.ts";
import { createRetryingWriter } from "../lib/retrying-writer.ts";
import type { Access } from "../protocol/objects.ts";
import type { Closers } from "./closers.ts";
import { writeDaemonFile } from "./daemon-file.ts";
import type { DoorKeeper } from "./door-keeper.ts";
import type { Exposure } from "./exposure.ts";
import { gateSettings } from "./gate-settings.ts";
import type { Activity } from "./idle.ts";
import { openMainDoor } from "./main-door.ts";
import type { Core } from "./open-core.ts";
import type { OpenedHome } from "./open-home.ts";
import { openPush } from "./open-push.ts";
import { newProber } from "./open-tunnel.ts";
import { pageFolder } from "./page-folder.ts";
import { createRefusalLog } from "./refusal-log.ts";
import { type ConfigPart, onCommit } from "./reload/reload-config.ts";
import { createRemoteSide, type RemoteSide } from "./remote-side.ts";
import { restRoutes } from "./rest-routes.ts";
import type { EndReason, StartDaemonOptions } from "./running-daemon.ts";

export interface ServeOptions {
  readonly options: StartDaemonOptions;
  readonly home: OpenedHome;
  readonly core: Core;
  readonly closers: Closers;
  readonly end: (reason: EndReason) => Promise<void>;
  readonly reason: () => EndReason | null;
}

export interface Served {
  readonly url: string;
  readonly port: number;
  readonly warnings: readonly string[];
  readonly activity: () => Activity;
  readonly access: () => Access;
  readonly openDoor: DoorKeeper["openDoor"];
  /** What takes over other settings. */
  readonly configParts: readonly ConfigPart[];
  /** Does something during which exposure does not change. */
  readonly undisturbed: Exposure["undisturbed"];
  /** Writes `daemon.json`, and again whenever the master token changes. */
  announce(): Promise<void>;
}

const clientCountIntervalMs = 250;
const drainMs = 500;
const refusalIntervalMs = 60_000;

/** Puts application, gate and doors in front of the core, and lets in whom exposure says. */
export async function serve({ options, home, core, closers, end, reason }: ServeOptions): Promise<Served> {
  const { log, config } = home;
  const { authority, engine, changeLog, keepAwake, clock } = core;
  const paths = homePaths(options.home);
  const warnings: string[] = [];
  let lastRequestMs = clock.monotonicNow();
  let port = 0;
  // Known only when the main door is open; until then nothing can ask.
  let openedRemote: RemoteSide | null = null;
  const remote = (): RemoteSide => {
    if (openedRemote === null)
      throw new TypeError("remote access was asked for before the main door was open");
    return openedRemote;
  };
  const access = (): Access => openedRemote?.access ?? "off";
  const prober = newProber();
  // Its tool has three seconds to end, while the rest is closed; whatever is left then its watchdog ends.
  closers.add("end of the tunnel", () => openedRemote?.tunnelEnd());

  const sockets = createSocketRegistry({
    onCount: (count) => changeLog.append({ type: "clients", count }),
    countIntervalMs: clientCountIntervalMs,
  });
  const facts: DaemonFacts = {
    version: options.version,
    pid: process.pid,
    started: toTime(core.startedMs),
    get idleMinutes() {
      return config.current.idleMinutes;
    },
    remote: () => remote().current(),
    awake: () => keepAwake.current(),
    clients: () => sockets.count,
  };
  const native = createNativeServer({
    engine,
    changeLog,
    facts,
    registry: sockets,
    commandScopes,
    setAwake: (mode) => keepAwake.set(mode),
    log,
    now: clock.now,
  });
  closers.add("native dialect", () => native.close());
  const mew = createMewServer({
    engine,
    changeLog,
    registry: sockets,
    mewScopes,
    version: options.version,
    detachGraceSeconds: () => config.current.mewDetachGraceSeconds,
    log,
    now: clock.now,
  });
  closers.add("mew dialect", () => mew.close());

  const push = await openPush({ home: options.home, opened: home, core, access });
  closers.add("push", () => push.close());
  if (push.problem !== null) warnings.push(`Notifications are off. ${push.problem}`);

  const routes = restRoutes({
    facts,
    authority,
    engine,
    changeLog,
    native,
    connected: (device) => sockets.connectedCount(device),
    access,
    setAccess: (next, by) => remote().setAccess(next, by),
    startTunnel: (provider, rawFields, by) => remote().startTunnel(provider, rawFields, by),
    stopTunnel: (by) => remote().stopTunnel(by),
    noteProbe: prober.noteArrival,
    addresses: () => remote().addresses(),
    port: () => port,
    push,
    stop: ({ restart }) => void end(restart ? "restart" : "stopped"),
    restartProblem: () => home.checkFiles(),
    now: clock.now,
    configPath: paths.config,
    config: () => config.current,
  });
  const staticFiles = await loadStaticFiles(pageFolder);
  const app = await createApp({
    routes,
    sockets: new Map([
      ["/api/ws", native.upgrade],
      ["/mew", mew.upgrade],
      ["/", mew.upgrade],
    ]),
    incoming: sockets.incoming,
    staticFiles,
    log,
    now: clock.now,
  });
  closers.add("application", () => app.close());

  const refusals = createRefusalLog({ log, intervalMs: refusalIntervalMs });
  closers.add("refusal log", () => refusals.close());
  const gateway = createGateway({
    routes: [
      ...routes,
      ...(["/api/ws", "/mew", "/"] as const).map((path) => ({
        method: "SOCKET" as const,
        path,
        scope: routeScopes[`SOCKET ${path}`],
      })),
    ],
    isStaticPath: (path) => isStaticPath(staticFiles, path),
    verifyCredential: authority.verifyCredential,
    access,
    settings: gateSettings(config.current),
    handleRequest(request, response) {
      lastRequestMs = clock.monotonicNow();
      app.routing(request, response);
    },
    handleUpgrade(request, socket, head) {
      lastRequestMs = clock.monotonicNow();
      app.server.emit("upgrade", request, socket, head);
    },
    nowMs: clock.monotonicNow,
    onRefusal: refusals.note,
    onFault: (error) => log.error({ err: error }, "a request met a fault of ours"),
  });
  closers.add("gateway", () => gateway.close(closeGraceMs));

  const door = await openMainDoor(gateway, options.port ?? config.current.port, authority.master.token);
  port = door.port ?? 0;
  const reach = createRemoteSide({
    options,
    home,
    core,
    door,
    gateway,
    sockets,
    prober,
    closers,
    reason,
  });
  openedRemote = reach;
  core.onDevicesChanged(() => {
    push.review();
    reach.refresh();
  });
  closers.add("sockets and engine", async () => {
    // Who comes back at once must find nobody here, not one that is about to go.
    for (const each of gateway.doors()) each.stopListening();
    changeLog.append({ type: "shutdown", restart: reason() === "restart" });
    await Promise.all([sockets.shutdown(drainMs), engine.close()]);
  });

  warnings.push(...(await reach.restore()));

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    warnings,
    access,
    openDoor: reach.openDoor,
    undisturbed: reach.undisturbed,
    configParts: [
      { prepare: async (next) => onCommit(() => gateway.setSettings(gateSettings(next))) },
      ...reach.configParts,
    ],
    activity() {
      const counts = engine.counts();
      return {
        access: reach.access,
        keptAwake: keepAwake.current().mode === "always",
        clients: sockets.count,
        runningAgents: counts.running_agents,
        runningJobs: counts.running_jobs,
        pending: counts.pending,
        lastRequestMs,
      };
    },
    async announce() {
      const write = () =>
        writeDaemonFile(paths.daemonFile, {
          port,
          masterToken: authority.master.token,
          pid: process.pid,
          version: options.version,
          started: toTime(core.startedMs),
          instance: core.instance,
        });
      await write();
      const writer = createRetryingWriter({
        // Who ends takes the file away.
        write: async () => (reason() === null ? write() : undefined),
        onFailure: (error) => log.error({ err: error }, "daemon.json could not be given the new token"),
      });
      // A failure is in the log, and tried again by the writer.
      core.onMasterRotated(() => void writer.save().catch(() => undefined));
    },
  };
}

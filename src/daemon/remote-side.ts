import type { Config } from "../config/config.ts";
import type { Door } from "../gateway/doors.ts";
import { closeGraceMs, type Gateway } from "../gateway/gate-server.ts";
import type { SocketRegistry } from "../gateway/sockets/registry.ts";
import type { Access, By, Remote } from "../protocol/objects.ts";
import type { Prober } from "../tunnel/probe.ts";
import { noTunnel } from "../tunnel/supervisor.ts";
import type { Closers } from "./closers.ts";
import { createDoorKeeper, type DoorKeeper } from "./door-keeper.ts";
import { createExposure, type Exposure } from "./exposure.ts";
import { createNetworkSide } from "./network-side.ts";
import type { Core } from "./open-core.ts";
import type { OpenedHome } from "./open-home.ts";
import { type OpenedTunnel, openTunnel } from "./open-tunnel.ts";
import { type ConfigPart, onCommit } from "./reload/reload-config.ts";
import { createRemoteInfo, type RemoteInfo } from "./remote-info.ts";
import type { EndReason, StartDaemonOptions } from "./running-daemon.ts";
import type { TunnelControl } from "./tunnel-control.ts";

export interface RemoteSideOptions {
  readonly options: StartDaemonOptions;
  readonly home: OpenedHome;
  readonly core: Core;
  /** The main door, open on loopback. */
  readonly door: Door;
  readonly gateway: Gateway;
  readonly sockets: SocketRegistry;
  readonly prober: Prober;
  readonly closers: Closers;
  readonly reason: () => EndReason | null;
}

/** How far the daemon can be reached: exposure, the network, doors for forwarders and the tunnel. */
export interface RemoteSide extends Pick<RemoteInfo, "current" | "addresses" | "refresh"> {
  readonly access: Access;
  readonly openDoor: DoorKeeper["openDoor"];
  /** Does something during which exposure does not change. */
  readonly undisturbed: Exposure["undisturbed"];
  /** In the order in which they are asked. */
  readonly configParts: readonly ConfigPart[];
  readonly setAccess: (access: Access, by: By) => Promise<Remote>;
  readonly startTunnel: TunnelControl["start"];
  readonly stopTunnel: TunnelControl["stop"];
  /**
   * Opens what the configuration, the command line and the daemon before ask for. Resolves with what could not be, for the
   * user. Throws `StartupError` for a door of the configuration.
   */
  restore(): Promise<readonly string[]>;
  /** Resolves when the tunnel's tool has ended; at once where none was told to. */
  tunnelEnd(): Promise<void>;
}

const addressLookMs = 10_000;
const persistRetryMs = 5_000;

/** Nothing but loopback is open before `restore` is called. */
export function createRemoteSide(parts: RemoteSideOptions): RemoteSide {
  const { options, door, gateway, sockets, closers, core } = parts;
  const { log, config, state } = parts.home;
  const { authority, changeLog, clock } = core;
  const hostOf = ({ host }: Config): string | null => options.host ?? state.current.host ?? host;
  let tunnel: OpenedTunnel | null = null;
  let tunnelEnd: Promise<void> = Promise.resolve();
  const tunnelControl = (): TunnelControl => {
    if (tunnel === null) throw new TypeError("the tunnel was asked for before the main door was open");
    return tunnel.control;
  };

  const doors = createDoorKeeper({
    gateway,
    state,
    audit: authority.audit,
    onChange: () => info.refresh(),
    closeGraceMs,
  });
  const network = createNetworkSide({
    door,
    settings: { host: hostOf(config.current), tls: config.current.tls },
    closeGraceMs,
  });
  const exposure = createExposure({
    state,
    network,
    closeRemote(which) {
      sockets.closeRemote(which === "all" ? undefined : (admission) => admission.door === "main");
      gateway.closeUnadmitted(closeGraceMs);
    },
    onChange: () => info.refresh(),
    audit: authority.audit,
    log,
    retryMs: persistRetryMs,
  });
  const info = createRemoteInfo({
    door,
    hasTls: () => network.hasTls,
    access: () => exposure.access,
    doorUrls: () => doors.urls(),
    devices: () => authority.devices.count,
    tunnel: () => tunnel?.current() ?? noTunnel,
    announce: (view) => changeLog.append({ type: "remote", remote: view }),
    lookMs: addressLookMs,
  });
  closers.add("remote info", () => info.close());

  async function restoreExposure(): Promise<string | null> {
    if (options.host !== null && options.host !== state.current.host)
      await state.update({ host: options.host });
    const notRestored = await exposure.restore();
    if (notRestored !== null || !options.remote) return notRestored;
    try {
      await exposure.set("on", null);
      return null;
    } catch (error) {
      log.error({ err: error }, "remote access could not be switched on");
      return error instanceof Error ? error.message : String(error);
    }
  }

  async function resumeTunnel(): Promise<string | null> {
    tunnel = await openTunnel({
      home: options.home,
      environment: options.env,
      config: () => config.current,
      prober: parts.prober,
      exposure,
      openDoor: doors.openDoor,
      onChange: info.refresh,
      audit: authority.audit,
      clock,
      log,
    });
    const { control } = tunnel;
    closers.add("tunnel", () => {
      const why = parts.reason();
      const keep = why === "restart" ? "handed over" : why === "stopped" ? "nothing" : "wanted";
      tunnelEnd = control.close(keep);
      return why === "restart" ? tunnelEnd : undefined;
    });
    return control.resume();
  }

  return {
    get access() {
      return exposure.access;
    },
    current: info.current,
    addresses: info.addresses,
    refresh: info.refresh,
    openDoor: doors.openDoor,
    undisturbed: exposure.undisturbed,
    configParts: [
      { prepare: (next) => doors.prepareConfigured(next.doors) },
      { prepare: (next) => network.prepare({ host: hostOf(next), tls: next.tls }) },
      { prepare: async () => onCommit(info.refresh) },
    ],
    async setAccess(next, by) {
      await exposure.set(next, by);
      await tunnelControl().accessChosen(next, by);
      return info.current();
    },
    startTunnel: (provider, rawFields, by) => tunnelControl().start(provider, rawFields, by),
    stopTunnel: (by) => tunnelControl().stop(by),
    async restore() {
      closers.add("exposure", () => exposure.close());
      await doors.openConfigured(config.current.doors);
      const problems = [await restoreExposure(), await resumeTunnel()];
      info.refresh();
      return problems.filter((problem) => problem !== null);
    },
    tunnelEnd: () => tunnelEnd,
  };
}

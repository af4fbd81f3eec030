import { homedir } from "node:os";
import type { Config } from "../config/config.ts";
import type { ChangeLog } from "../engine/change-log.ts";
import type { Engine } from "../engine/engine.ts";
import type { NativeServer } from "../gateway/native/server.ts";
import type { DaemonFacts } from "../gateway/native/snapshot-view.ts";
import type { Route } from "../gateway/route.ts";
import { commandRoutes } from "../gateway/routes/command.ts";
import { daemonRoutes } from "../gateway/routes/daemon.ts";
import { deviceRoutes } from "../gateway/routes/devices.ts";
import { fsRoutes } from "../gateway/routes/fs.ts";
import { helloRoutes } from "../gateway/routes/hello.ts";
import { jobRoutes } from "../gateway/routes/jobs.ts";
import { memoryRoutes } from "../gateway/routes/memory.ts";
import { modelRoutes } from "../gateway/routes/models.ts";
import { withOpenApi } from "../gateway/routes/openapi.ts";
import { pairRoutes } from "../gateway/routes/pair.ts";
import { pairCodeRoutes } from "../gateway/routes/pair-codes.ts";
import { type PushRouteOptions, pushRoutes } from "../gateway/routes/push.ts";
import { remoteRoutes } from "../gateway/routes/remote.ts";
import { sessionRoutes } from "../gateway/routes/sessions.ts";
import { sessionListRoutes } from "../gateway/routes/sessions-list.ts";
import { settingsRoutes } from "../gateway/routes/settings.ts";
import { snapshotRoutes } from "../gateway/routes/snapshot.ts";
import { ticketRoutes } from "../gateway/routes/ticket.ts";
import { toolRoutes } from "../gateway/routes/tools.ts";
import { type TunnelRouteOptions, tunnelRoutes } from "../gateway/routes/tunnel.ts";
import { updateRoutes } from "../gateway/routes/update.ts";
import { usageRoutes } from "../gateway/routes/usage.ts";
import { workspaceRoutes } from "../gateway/routes/workspaces.ts";
import type { DeviceAuthority } from "../pairing/device-authority.ts";
import type { ReachableAddress } from "../pairing/reachable-addresses.ts";
import type { Access, By, Remote } from "../protocol/objects.ts";
import { ruleProblem } from "./rule-problem.ts";

export interface RestParts {
  readonly facts: DaemonFacts;
  readonly authority: DeviceAuthority;
  readonly engine: Engine;
  readonly changeLog: ChangeLog;
  readonly native: NativeServer;
  /** How many sockets a device has open. */
  readonly connected: (device: string) => number;
  readonly access: () => Access;
  readonly setAccess: (access: Access, by: By) => Promise<Remote>;
  readonly startTunnel: TunnelRouteOptions["start"];
  readonly stopTunnel: TunnelRouteOptions["stop"];
  /** A probe of a tunnel came in by a door. */
  readonly noteProbe: (door: string, rawId: string) => void;
  readonly addresses: () => readonly ReachableAddress[];
  /** Port of the main door. */
  readonly port: () => number;
  readonly push: PushRouteOptions;
  readonly stop: (how: { readonly restart: boolean }) => void;
  /** Why a daemon that follows this one would not start, or null. */
  readonly restartProblem: () => Promise<string | null>;
  readonly now: () => number;
  /** Where `config.toml` is. */
  readonly configPath: string;
  /** The configuration that the daemon goes by now. */
  readonly config: () => Config;
}

/** Every REST route there is, each with its row of the scope table beside its handler. */
export function restRoutes(parts: RestParts): readonly Route[] {
  const { authority, engine, facts, changeLog, native } = parts;
  const { version } = facts;
  const { library } = engine;
  const routes = [
    ...helloRoutes({
      version,
      access: parts.access,
      port: parts.port,
      masterToken: () => authority.master.token,
      onProbe: parts.noteProbe,
    }),
    ...pairRoutes({ version, pairing: authority.pairing }),
    ...pairCodeRoutes({ codes: authority.codes, addresses: parts.addresses, audit: authority.audit }),
    ...deviceRoutes({ devices: authority.devices, connected: parts.connected, audit: authority.audit }),
    ...ticketRoutes({ tickets: authority.tickets }),
    ...remoteRoutes({ remote: facts.remote, setAccess: parts.setAccess }),
    ...tunnelRoutes({ remote: facts.remote, start: parts.startTunnel, stop: parts.stopTunnel }),
    ...daemonRoutes({ engine, changeLog, facts, stop: parts.stop, restartProblem: parts.restartProblem }),
    ...snapshotRoutes(native.views),
    ...commandRoutes(native.table, parts.now),
    ...jobRoutes(engine),
    ...sessionRoutes(engine),
    ...sessionListRoutes(library, parts.now),
    ...workspaceRoutes(library),
    ...fsRoutes(library),
    ...usageRoutes(library),
    ...modelRoutes(library),
    ...toolRoutes(library),
    ...memoryRoutes(),
    ...updateRoutes(version),
    ...pushRoutes(parts.push),
    ...settingsRoutes({
      path: parts.configPath,
      userHome: homedir(),
      running: parts.config,
      ruleProblem,
      library,
      audit: authority.audit,
    }),
  ];
  return withOpenApi(routes, version);
}

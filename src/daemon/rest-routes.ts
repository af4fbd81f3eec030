import type { ChangeLog } from "../engine/change-log.ts";
import type { Engine } from "../engine/engine.ts";
import type { NativeServer } from "../gateway/native/server.ts";
import type { DaemonFacts } from "../gateway/native/snapshot-view.ts";
import type { Route } from "../gateway/route.ts";
import { commandRoutes } from "../gateway/routes/command.ts";
import { daemonRoutes } from "../gateway/routes/daemon.ts";
import { deviceRoutes } from "../gateway/routes/devices.ts";
import { helloRoutes } from "../gateway/routes/hello.ts";
import { jobRoutes } from "../gateway/routes/jobs.ts";
import { pairRoutes } from "../gateway/routes/pair.ts";
import { pairCodeRoutes } from "../gateway/routes/pair-codes.ts";
import { remoteRoutes } from "../gateway/routes/remote.ts";
import { sessionRoutes } from "../gateway/routes/sessions.ts";
import { snapshotRoutes } from "../gateway/routes/snapshot.ts";
import { ticketRoutes } from "../gateway/routes/ticket.ts";
import type { DeviceAuthority } from "../pairing/device-authority.ts";
import type { ReachableAddress } from "../pairing/reachable-addresses.ts";
import type { Access, By, Remote } from "../protocol/objects.ts";

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
  readonly addresses: () => readonly ReachableAddress[];
  /** Port of the main door. */
  readonly port: () => number;
  readonly stop: (how: { readonly restart: boolean }) => void;
  readonly now: () => number;
}

/** Every REST route there is, each with its row of the scope table beside its handler. */
export function restRoutes(parts: RestParts): readonly Route[] {
  const { authority, engine, facts, changeLog, native } = parts;
  const { version } = facts;
  return [
    ...helloRoutes({
      version,
      access: parts.access,
      port: parts.port,
      masterToken: () => authority.master.token,
    }),
    ...pairRoutes({ version, pairing: authority.pairing }),
    ...pairCodeRoutes({ codes: authority.codes, addresses: parts.addresses, audit: authority.audit }),
    ...deviceRoutes({ devices: authority.devices, connected: parts.connected, audit: authority.audit }),
    ...ticketRoutes({ tickets: authority.tickets }),
    ...remoteRoutes({ remote: facts.remote, setAccess: parts.setAccess }),
    ...daemonRoutes({ engine, changeLog, facts, stop: parts.stop }),
    ...snapshotRoutes(native.views),
    ...commandRoutes(native.table, parts.now),
    ...jobRoutes(engine),
    ...sessionRoutes(engine),
  ];
}

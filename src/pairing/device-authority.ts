import type { AuditSink } from "../auth/audit.ts";
import type { VerifyCredential } from "../auth/principal.ts";
import { createTicketBook, type TicketBook } from "../auth/ticket-book.ts";
import { createRequestDigester } from "../auth/token-digest.ts";
import { createTokenHasher } from "../auth/token-hash.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { createAuditLog } from "./audit-log.ts";
import { type CodeBook, createCodeBook } from "./code-book.ts";
import { createDeviceRegistry, type DeviceRegistry } from "./device-registry.ts";
import { type DevicePaths, loadDeviceFiles } from "./load-device-files.ts";
import { createMasterToken, type MasterToken } from "./master-token-keeper.ts";
import { createPairing, type Paired, type Pairing } from "./pair-device.ts";
import { createCredentialCheck } from "./verify-credential.ts";

export interface DeviceAuthorityOptions {
  readonly paths: DevicePaths;
  /** What `parseFixedMasterToken` returned for `SALLYPORT_TOKEN` or `--token-file`; null: `daemon.token`. */
  readonly fixedMasterToken: string | null;
  readonly clock?: Clock;
  /** A device came, went or changed: clients get a new `remote`. */
  readonly onDevicesChanged: () => void;
  /** The master token changed: `daemon.json` must name the new one. */
  readonly onMasterRotated: (token: string) => void;
  /** Something for the daemon's log; holds no secret. */
  readonly onProblem: (problem: unknown) => void;
  /** Writes `devices.json`; default `writeFileAtomic`. */
  readonly writeFile?: (path: string, text: string) => Promise<void>;
}

/** Everything that decides who is calling: tokens, devices, codes and tickets of one home. */
export interface DeviceAuthority {
  readonly verifyCredential: VerifyCredential;
  readonly master: MasterToken;
  readonly devices: DeviceRegistry;
  readonly codes: CodeBook<Paired>;
  readonly tickets: TicketBook;
  readonly pairing: Pairing;
  /** For exposure, doors and what else the daemon has to note. */
  readonly audit: AuditSink;
  /** Stops the timers and writes what is unwritten. */
  close(): Promise<void>;
}

/**
 * Reads the secret files of a home and puts the parts together.
 *
 * @throws SallyportError naming the file and the next step when one of them cannot be trusted
 */
export async function createDeviceAuthority(options: DeviceAuthorityOptions): Promise<DeviceAuthority> {
  const { paths, clock = systemClock, onProblem } = options;
  const files = await loadDeviceFiles(paths, clock.now());
  const digester = createRequestDigester();
  const hasher = createTokenHasher();
  const auditLog = createAuditLog({ path: paths.audit, clock, onProblem });
  const audit = auditLog.record;
  const master = await createMasterToken({
    path: paths.daemonToken,
    fixedToken: options.fixedMasterToken,
    clock,
    digester,
    onRotated: (token) => {
      audit({ type: "token_rotated" });
      options.onMasterRotated(token);
    },
    onProblem,
  });
  const devices = createDeviceRegistry({
    path: paths.devices,
    devices: files.devices,
    clock,
    onChange: options.onDevicesChanged,
    onExpired: ({ id, name }) => audit({ type: "device_expired", device: id, name }),
    onProblem,
    ...(options.writeFile ? { writeFile: options.writeFile } : {}),
  });
  const tickets = createTicketBook({ clock });
  const codes = createCodeBook<Paired>({ clock, onMiss: auditLog.recordMiss });
  const { keys } = files;
  return {
    verifyCredential: createCredentialCheck({ master, devices, tickets, keys, hasher, digester }),
    master,
    devices,
    codes,
    tickets,
    pairing: createPairing({ codes, tickets, devices, hasher, keys, clock, audit }),
    audit,
    async close() {
      await master.close();
      await devices.close();
      await auditLog.close();
    },
  };
}

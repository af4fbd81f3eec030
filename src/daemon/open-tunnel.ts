import { readFile } from "node:fs/promises";
import type { AuditSink } from "../auth/audit.ts";
import type { Config } from "../config/config.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Tunnel } from "../protocol/objects.ts";
import { createProber, type ProbeResult, type Prober } from "../tunnel/probe.ts";
import { createSupervisor } from "../tunnel/supervisor.ts";
import { tunnelTiming } from "../tunnel/timing.ts";
import type { DoorKeeper } from "./door-keeper.ts";
import type { Exposure } from "./exposure.ts";
import { createTunnelControl, type TunnelControl } from "./tunnel-control.ts";
import { openTunnelStore } from "./tunnel-record.ts";

export interface OpenTunnelOptions {
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly config: () => Config;
  readonly prober: Prober;
  readonly exposure: Pick<Exposure, "access" | "set">;
  readonly openDoor: DoorKeeper["openDoor"];
  readonly onChange: () => void;
  readonly audit: AuditSink;
  readonly clock: Clock;
  readonly log: Log;
}

export interface OpenedTunnel {
  readonly control: TunnelControl;
  current(): Tunnel;
}

/** What a probe costs at most before it is called unanswered. */
export const newProber = (): Prober => createProber(tunnelTiming.probeTimeoutMs);

/** Puts supervisor, probe, doors and exposure together; nothing runs yet. */
export async function openTunnel(options: OpenTunnelOptions): Promise<OpenedTunnel> {
  const { config, log, clock } = options;
  const store = await openTunnelStore(options.home, log);

  async function probe(provider: string, url: string, signal: AbortSignal): Promise<ProbeResult> {
    const { probeAddress, probeCaPath } = config().tunnel;
    let ca: string | null = null;
    try {
      if (probeCaPath !== null) ca = await readFile(probeCaPath, "utf8");
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? "unknown";
      return { ok: false, reason: `tunnel.probe_ca cannot be read: ${probeCaPath} (${code}).` };
    }
    return options.prober.probe({ url, door: provider, probeAddress, ca }, signal);
  }

  const supervisor = createSupervisor({
    folder: store.folder,
    environment: options.environment,
    probe,
    onChange(tunnel) {
      control.noteState(tunnel);
      options.onChange();
    },
    async remember(child) {
      if (store.current !== null) await store.set({ ...store.current, child });
    },
    now: clock.now,
    monotonicNow: clock.monotonicNow,
    log,
  });
  const control = createTunnelControl({ ...options, supervisor, store });
  return { control, current: () => supervisor.current };
}

import type { AuditSink } from "../auth/audit.ts";
import type { DoorConfig } from "../config/config.ts";
import type { Door, DoorSpec } from "../gateway/doors.ts";
import type { Gateway } from "../gateway/gate-server.ts";
import { createConfiguredDoors, isTaken } from "./configured-doors.ts";
import type { StateStore } from "./daemon-state.ts";
import { doorPortCandidates, ephemeralRange } from "./door-port.ts";
import type { PreparedChange } from "./reload/reload-config.ts";

type ForwarderSpec = Extract<DoorSpec, { kind: "forwarder" }>;

export interface DoorRequest {
  /** Of the provider; its port is kept under it. */
  readonly name: string;
  /** Null until the tunnel has one. */
  readonly publicUrl: string | null;
  readonly addressSource: ForwarderSpec["addressSource"];
}

/** A door that was opened by code, for a tunnel of ours. */
export interface OpenedDoor {
  readonly name: string;
  /** On loopback; what the forwarder must be pointed at. */
  readonly port: number;
  /** What it answers to. It is offered to clients too, unless `offered` is false: the address is not proved yet. */
  setPublicUrl(publicUrl: string | null, options?: { readonly offered?: boolean }): void;
  close(): Promise<void>;
}

export interface DoorKeeperOptions {
  readonly gateway: Pick<Gateway, "openDoor" | "closeDoor">;
  readonly state: StateStore;
  readonly audit: AuditSink;
  /** A door came, went, or has another public address. */
  readonly onChange: () => void;
  readonly closeGraceMs: number;
}

export interface DoorKeeper {
  /** Opens the doors of the configuration. Throws StartupError `listen`, naming the door. */
  openConfigured(doors: readonly DoorConfig[]): Promise<void>;
  /** Makes ready to have these doors of the configuration instead of those of before. Rejects as `openConfigured`. */
  prepareConfigured(doors: readonly DoorConfig[]): Promise<PreparedChange>;
  /** Opens a door on a loopback port that stays the same for this name, outside the range of outgoing connections. */
  openDoor(request: DoorRequest): Promise<OpenedDoor>;
  /** Public addresses: of doors opened by code first, then those of the configuration. */
  urls(): readonly string[];
}

const triedPorts = 32;

/** Keeps the doors for forwarders: everything that arrives at one is remote, whatever it says. */
export function createDoorKeeper(options: DoorKeeperOptions): DoorKeeper {
  const { gateway, state, audit } = options;
  const configured = createConfiguredDoors(options);
  const opened = new Map<string, { readonly port: number; url: string | null }>();

  async function open(spec: ForwarderSpec): Promise<Door> {
    const door = await gateway.openDoor(spec);
    audit({ type: "door_opened", door: spec.name, listen: door.bound.join(", "), url: spec.publicUrl });
    return door;
  }

  async function openOnKeptPort(request: DoorRequest): Promise<Door> {
    const kept = state.current.door_ports[request.name];
    const taken = new Set([...opened.values()].map(({ port }) => port));
    const ephemeral = await ephemeralRange();
    for (const port of doorPortCandidates({ kept, taken, ephemeral, count: triedPorts }))
      try {
        return await open({ kind: "forwarder", ...request, listen: { kind: "port", port } });
      } catch (error) {
        if (!isTaken(error)) throw error;
      }
    throw new Error(`no free port was found for the door of ${request.name}`);
  }

  return {
    async openConfigured(doors) {
      const change = await configured.prepare(doors);
      change.commit();
    },
    prepareConfigured: configured.prepare,
    async openDoor(request) {
      const { name } = request;
      if (opened.has(name)) throw new TypeError(`the door ${name} is open already`);
      const door = await openOnKeptPort(request);
      const port = door.port ?? 0;
      const entry = { port, url: request.publicUrl };
      opened.set(name, entry);
      options.onChange();
      if (state.current.door_ports[name] !== port)
        await state.update({ door_ports: { ...state.current.door_ports, [name]: port } });
      return {
        name,
        port,
        setPublicUrl(publicUrl, { offered = true } = {}) {
          door.setPublicUrl(publicUrl);
          // While another address is tried, the one that was offered stays in links.
          if (!offered) return;
          entry.url = publicUrl;
          options.onChange();
        },
        async close() {
          if (opened.get(name) !== entry) return;
          opened.delete(name);
          options.onChange();
          await gateway.closeDoor(door, options.closeGraceMs);
          audit({ type: "door_closed", door: name });
        },
      };
    },
    urls() {
      const ofTunnels = [...opened.values()].flatMap(({ url }) => (url === null ? [] : [url]));
      return [...ofTunnels, ...configured.urls()];
    },
  };
}

import type { AuditSink } from "../auth/audit.ts";
import { parsePublicAddress } from "../auth/public-address.ts";
import type { DoorConfig, DoorListen } from "../config/config.ts";
import type { Door } from "../gateway/doors.ts";
import type { Gateway } from "../gateway/gate-server.ts";
import type { PreparedChange } from "./reload/reload-config.ts";
import { StartupError } from "./startup-error.ts";

export interface ConfiguredDoorsOptions {
  readonly gateway: Pick<Gateway, "openDoor" | "closeDoor">;
  readonly audit: AuditSink;
  readonly closeGraceMs: number;
  /** A door came, went, or has another public address. */
  readonly onChange: () => void;
}

/** The `[[door]]`s of the configuration. */
export interface ConfiguredDoors {
  /**
   * Opens those that are new; they answer to nothing before the change is committed. Rejects with StartupError `listen`,
   * naming the door; then nothing has changed.
   */
  prepare(doors: readonly DoorConfig[]): Promise<PreparedChange>;
  /** Public addresses, in the order of the file. */
  urls(): readonly string[];
}

interface OpenDoor {
  readonly door: Door;
  readonly key: string;
  readonly url: string;
}

export function createConfiguredDoors(options: ConfiguredDoorsOptions): ConfiguredDoors {
  const { gateway, audit, closeGraceMs } = options;
  let open: readonly OpenDoor[] = [];

  function freeName(taken: readonly OpenDoor[]): string {
    const names = new Set([...open, ...taken].map(({ door }) => door.name));
    for (let number = 1; ; number++) if (!names.has(`door-${number}`)) return `door-${number}`;
  }

  async function openNew({ listen, url }: DoorConfig, name: string): Promise<Door> {
    if (parsePublicAddress(url) === null) throw cannotOpen(url, listen, "its url cannot be used", null);
    try {
      return await gateway.openDoor({
        kind: "forwarder",
        name,
        listen,
        publicUrl: null,
        addressSource: "none",
      });
    } catch (error) {
      const why = isTaken(error) ? "it is taken" : String((error as NodeJS.ErrnoException).code ?? error);
      throw cannotOpen(url, listen, why, error);
    }
  }

  async function openAllNew(doors: readonly DoorConfig[]): Promise<readonly OpenDoor[]> {
    const made: OpenDoor[] = [];
    try {
      for (const config of doors) {
        const key = keyOf(config.listen);
        if (!open.some((each) => each.key === key))
          made.push({ key, url: config.url, door: await openNew(config, freeName(made)) });
      }
    } catch (error) {
      await closeAll(made);
      throw error;
    }
    return made;
  }

  async function closeAll(doors: readonly OpenDoor[]): Promise<void> {
    await Promise.all(doors.map(({ door }) => gateway.closeDoor(door, closeGraceMs)));
  }

  return {
    async prepare(doors) {
      const made = await openAllNew(doors);
      return {
        commit() {
          const before = open;
          open = doors.flatMap(({ listen, url }) => {
            const found = [...before, ...made].find(({ key }) => key === keyOf(listen));
            return found ? [{ ...found, url }] : [];
          });
          for (const { door, url } of open) {
            door.setPublicUrl(url);
            if (made.some((each) => each.door === door))
              audit({ type: "door_opened", door: door.name, listen: door.bound.join(", "), url });
          }
          const gone = before.filter(({ key }) => !open.some((each) => each.key === key));
          for (const { door } of gone) audit({ type: "door_closed", door: door.name });
          void closeAll(gone);
          options.onChange();
        },
        abandon: () => closeAll(made),
      };
    },
    urls: () => open.map(({ url }) => url),
  };
}

function keyOf(listen: DoorListen): string {
  return listen.kind === "port" ? `port ${listen.port}` : listen.path;
}

function cannotOpen(url: string, listen: DoorListen, why: string, cause: unknown): StartupError {
  return new StartupError(
    "listen",
    `The [[door]] for ${url} cannot listen on ${keyOf(listen)}: ${why}. Change it in config.toml, or end what is there.`,
    { cause },
  );
}

/** True for the system's error that says that an address is somebody else's. */
export function isTaken(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EADDRINUSE" || code === "EACCES";
}

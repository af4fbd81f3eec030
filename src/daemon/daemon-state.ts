import { type Static, Type } from "typebox";
import { createChecker } from "../lib/checker.ts";
import type { StateFile } from "../lib/state-file.ts";
import { AccessSchema } from "../protocol/objects.ts";

const Port = Type.Integer({ minimum: 0, maximum: 65_535 });
const StateSchema = Type.Object({
  /** Exposure that was set at run time. */
  access: AccessSchema,
  /** What `--host` named: without it, exposure that is honoured after a restart would be wider than what was asked for. */
  host: Type.Union([Type.String({ minLength: 1, maxLength: 255 }), Type.Null()]),
  /** The loopback port of each tunnel provider's door, kept for it. */
  door_ports: Type.Record(Type.String(), Port),
});

/** What the daemon remembers about itself in `state.json`. */
export type DaemonState = Readonly<Static<typeof StateSchema>>;

export interface StateStore {
  readonly current: DaemonState;
  /** Counts at once in memory; resolves when it is on disk, rejects when the disk refuses (memory keeps it). Calls are written in order. */
  update(change: Partial<DaemonState>): Promise<void>;
}
const stored = createChecker(StateSchema);

const section = "daemon";
const firstState: DaemonState = { access: "off", host: null, door_ports: {} };

/**
 * The daemon's own section of the state file. Fields of a newer version are kept.
 *
 * @throws StateFileError when the section is damaged: exposure is never guessed
 */
export function openDaemonState(file: StateFile): StateStore {
  const raw = file.get(section);
  if (raw !== undefined && !stored.check(raw)) throw file.damaged(section);
  let current: DaemonState = raw === undefined ? firstState : (raw as DaemonState);
  return {
    get current() {
      return current;
    },
    update(change) {
      current = { ...current, ...change };
      // Each write takes what is current when its turn comes, so the last one on disk is the last one in memory.
      return file.update(section, () => current);
    },
  };
}

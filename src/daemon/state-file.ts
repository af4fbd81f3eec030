import { rename } from "node:fs/promises";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { writeFileAtomic } from "../lib/atomic-file.ts";
import { readSecretFile } from "../lib/secret-file.ts";
import { AccessSchema } from "../protocol/objects.ts";
import { StartupError } from "./startup-error.ts";

const Port = Type.Integer({ minimum: 0, maximum: 65_535 });
const StateSchema = Type.Object({
  version: Type.Literal(1),
  /** Exposure that was set at run time. */
  access: AccessSchema,
  /** How the main door was last asked for, so that `daemon restart` keeps it. */
  port: Type.Union([Port, Type.Null()]),
  host: Type.Union([Type.String({ minLength: 1, maxLength: 255 }), Type.Null()]),
  /** The loopback port of each tunnel provider's door, kept for it. */
  door_ports: Type.Record(Type.String(), Port),
});

/** What the daemon remembers about itself in `state.json`. */
export type DaemonState = Readonly<Static<typeof StateSchema>>;

export interface StateStore {
  readonly current: DaemonState;
  /** Counts at once in memory; resolves when it is on disk, rejects when the disk refuses (memory keeps it). Calls are written in order. */
  update(change: Partial<Omit<DaemonState, "version">>): Promise<void>;
  /** Resolves when nothing is being written any more. */
  settled(): Promise<void>;
}

export interface LoadedState {
  readonly store: StateStore;
  /** Where a damaged file was put; null when there was none. */
  readonly setAside: string | null;
}

const maxStateBytes = 256 * 1024;
const emptyState: DaemonState = { version: 1, access: "off", port: null, host: null, door_ports: {} };

/**
 * Reads `state.json`. A missing one is a first start. A damaged one is kept under another name and counts as empty, which
 * is the closed state: exposure off. One that cannot be read or is open to others stops the start: someone else may have
 * switched exposure on in it.
 *
 * @param now epoch milliseconds, for the name of a damaged file
 * @throws StartupError `disk`
 */
export async function loadState(path: string, now: number): Promise<LoadedState> {
  const read = await readSecretFile(path, maxStateBytes);
  if (read.ok) {
    const state = parseState(read.text);
    if (state !== null) return { store: createStore(path, state), setAside: null };
  } else if (read.problem === "missing") {
    return { store: createStore(path, emptyState), setAside: null };
  } else if (read.problem !== "too_large") {
    throw new StartupError(
      "disk",
      `${path} is not to be trusted or cannot be read (${read.detail}). Look at it, then move it away: mv ${path} ${path}.old`,
    );
  }
  const setAside = `${path}.damaged-${now}`;
  await rename(path, setAside);
  return { store: createStore(path, emptyState), setAside };
}

function parseState(text: string): DaemonState | null {
  try {
    const raw: unknown = JSON.parse(text);
    return Compile(StateSchema).Check(raw) ? raw : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function createStore(path: string, initial: DaemonState): StateStore {
  let current = initial;
  let tail: Promise<void> = Promise.resolve();
  return {
    get current() {
      return current;
    },
    update(change) {
      current = { ...current, ...change };
      // Each write takes what is current when its turn comes, so the last one on disk is the last one in memory.
      const written = tail.then(() => writeFileAtomic(path, `${JSON.stringify(current, null, 2)}\n`));
      tail = written.catch(() => undefined);
      return written;
    },
    settled: () => tail,
  };
}

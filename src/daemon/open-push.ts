import { homePaths } from "../config/home-paths.ts";
import type { Engine } from "../engine/engine.ts";
import { SallyportError } from "../errors.ts";
import type { DeviceRegistry } from "../pairing/device-registry.ts";
import type { Access } from "../protocol/objects.ts";
import { createPush, type Push, type PushDevice } from "../push/create-push.ts";
import { createDeliver } from "../push/deliver.ts";
import type { NotePlace } from "../push/describe-note.ts";
import { lastTextOf } from "../push/last-text.ts";
import type { Note } from "../push/notes.ts";
import { openPushStore } from "../push/push-store.ts";
import type { Core } from "./open-core.ts";
import type { OpenedHome } from "./open-home.ts";

export interface OpenPushOptions {
  /** Path of the home folder. */
  readonly home: string;
  readonly opened: Pick<OpenedHome, "config" | "log">;
  readonly core: Pick<Core, "authority" | "changeLog" | "clock" | "engine">;
  readonly access: () => Access;
}

/** Records of a transcript that are looked through for the last words of a turn. */
const lastRecords = 50;

/** Notifications of this daemon: reads `push.json` and follows the changes from now on. */
export async function openPush({ home, opened, core, access }: OpenPushOptions): Promise<Push> {
  const { authority, changeLog, clock, engine } = core;
  const { config, log } = opened;
  const store = await openPushStore({
    path: homePaths(home).push,
    onProblem: (problem) => log.error({ err: problem }, "push.json could not be written"),
  });
  if (store.problem !== null) log.error({}, `notifications are off: ${store.problem}`);
  const push = createPush({
    store,
    deliver: createDeliver({ now: clock.now }),
    settings: () => config.current.push,
    deviceOf: (id) => deviceOf(authority.devices, id, access()),
    placeOf: (note) => placeOf(engine, note),
    async lastText(agent, turn) {
      const page = await engine.readSession(agent, { limit: lastRecords }).catch(noSession);
      return page === null ? null : lastTextOf(page.records, turn);
    },
    clock,
    log,
  });
  const stop = changeLog.subscribe(({ change }) => push.take(change));
  return {
    ...push,
    async close() {
      stop();
      await push.close();
    },
  };
}

function deviceOf(devices: DeviceRegistry, id: string, access: Access): PushDevice | null {
  const device = devices.get(id);
  if (!device) return null;
  const { lease } = device;
  return {
    id,
    live: lease.ended === null,
    // With remote access off it could not ask what there is.
    reachable: access !== "off" || lease.localOnly,
    has: (scope) => lease.scopes.has(scope),
  };
}

/** Names as they are now: tabs and agents are renamed, and move. */
function placeOf(engine: Engine, { workspace, tab, ...note }: Note): NotePlace {
  const agentId = note.kind === "turn" ? note.agent : note.event.agent;
  if (workspace === null) return { tab_name: null, agent_name: null };
  try {
    const { tabs } = engine.snapshot(workspace).workspace;
    const found = tabs.find((each) => each.id === tab);
    const agent = found?.agents.find((each) => each.id === agentId);
    return { tab_name: found?.name ?? null, agent_name: agent?.label ?? agent?.title ?? null };
  } catch (error) {
    if (error instanceof SallyportError) return { tab_name: null, agent_name: null };
    throw error;
  }
}

/** Deleted meanwhile, or unreadable: then the turn is told without its last words. */
function noSession(error: unknown): null {
  if (error instanceof SallyportError) return null;
  throw error;
}

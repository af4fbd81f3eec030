import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { UnreachableError } from "../client/answer-error.ts";
import { connect, type FreshConnection } from "../client/connection.ts";
import type { Ack, CommandInputOf } from "../client/replies.ts";
import type { Snapshot } from "../protocol/changes.ts";
import { usageError } from "./cli-error.ts";
import { type Call, textOption } from "./command.ts";
import { requireTarget, type Target } from "./target.ts";

const snapshotTimeoutMs = 15_000;

export interface Session {
  readonly target: Target;
  readonly connection: FreshConnection;
}

/** Finds the daemon, makes sure that it is ours, and opens the socket. */
export async function openSession(call: Call): Promise<Session> {
  const target = await requireTarget(call);
  let timer: NodeJS.Timeout | undefined;
  try {
    const connection = await connect({
      open: target.open,
      version: call.version,
      deadline: new Promise((resolve) => {
        timer = setTimeout(resolve, snapshotTimeoutMs);
      }),
    });
    return { target, connection };
  } finally {
    clearTimeout(timer);
  }
}

/** Where tabs are found and made; a connection fits. */
export interface TabSource {
  readonly snapshot: Pick<Snapshot, "workspace">;
  command(command: CommandInputOf<"tab_create">): Promise<Ack>;
}

/**
 * The tab that `--tab DIR` names: an open one of the last workspace with that folder, else a new one. Null without the
 * option: the daemon then takes its active tab.
 */
export async function tabOption(call: Call, connection: TabSource): Promise<string | null> {
  const given = textOption(call, "tab");
  if (given === null) return null;
  if (given === "") throw usageError("--tab is empty. Name a folder: --tab .");
  if (call.remote !== null && !given.startsWith("/") && !/^~(\/|$)/.test(given))
    throw usageError(
      "With -C, --tab is a folder of the other machine: give its whole path, as in: --tab /srv/api",
    );
  const named = call.remote === null ? resolve(call.io.cwd, given) : given;
  // The daemon judges the folder; a missing one gets its answer.
  const real = call.remote === null ? await realpath(named).catch(() => named) : named;
  const open = connection.snapshot.workspace.tabs.find((tab) => tab.cwd === real || tab.cwd === named);
  if (open) return open.id;
  const reply = await connection.command({ type: "tab_create", cwd: real });
  const id = namedId(reply.tab);
  if (id === null) throw new UnreachableError("The daemon made a tab but did not name it.");
  return id;
}

/** An id where a reply names what it made: bare, or inside the object. */
export function namedId(raw: unknown): string | null {
  if (typeof raw === "string") return raw;
  if (typeof raw === "object" && raw !== null && "id" in raw && typeof raw.id === "string") return raw.id;
  return null;
}

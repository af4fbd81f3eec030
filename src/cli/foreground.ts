import { failedError } from "./cli-error.ts";
import type { Call } from "./command.ts";
import type { DaemonFlags } from "./daemon-flags.ts";
import type { DaemonLink } from "./find-daemon.ts";

/** The daemon in this process. */
export interface Foreground {
  /** Ends it as SIGTERM does: jobs go on, exposure is remembered. */
  stop(): Promise<void>;
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

export type StartedForeground =
  | { readonly state: "started"; readonly foreground: Foreground; readonly url: string }
  /** Our own daemon was there first. */
  | { readonly state: "running"; readonly link: DaemonLink };

/** Starts the daemon in this process. Throws when it cannot: the text names the next step. */
export async function startForeground(_call: Call, _flags: DaemonFlags): Promise<StartedForeground> {
  throw failedError("The daemon is not part of this build.");
}

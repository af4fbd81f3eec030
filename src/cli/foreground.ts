import type { StartupError } from "../daemon/startup-error.ts";
import type { ErrorCode } from "../errors.ts";
import { failedError } from "./cli-error.ts";
import type { Call } from "./command.ts";
import type { DaemonFlags } from "./daemon-flags.ts";
import { type DaemonLink, findDaemon, findDaemonAt } from "./find-daemon.ts";

/** The daemon in this process. */
export interface Foreground {
  readonly url: string;
  /** For the person at the terminal: what was asked for and could not be done. */
  readonly warnings: readonly string[];
  /** Ends it as SIGTERM does: jobs go on, exposure is remembered. */
  stop(): Promise<void>;
  /** Resolves when it has ended, with 0 or what the process should end with. */
  readonly ended: Promise<number>;
}

export type StartedForeground =
  | { readonly state: "started"; readonly foreground: Foreground }
  /** Our own daemon was there first. */
  | { readonly state: "running"; readonly link: DaemonLink };

/**
 * Starts the daemon in this process. Throws when it cannot: the text names the next step.
 *
 * @param hangUp what SIGHUP does: `end` where a terminal may go away, `reload` to read config.toml again
 */
export async function startForeground(
  call: Call,
  flags: DaemonFlags,
  hangUp: "end" | "reload",
): Promise<StartedForeground> {
  // Only these two commands need the daemon's code; the others start faster without it.
  const [{ startDaemon }, { StartupError }] = await Promise.all([
    import("../daemon/start-daemon.ts"),
    import("../daemon/startup-error.ts"),
  ]);
  try {
    const daemon = await startDaemon({
      home: call.paths.home,
      version: call.version,
      port: flags.port,
      host: flags.host,
      remote: flags.remote,
      tokenFile: flags.tokenFile,
      cwd: call.io.cwd,
      env: call.io.env,
      hangUp,
    });
    return {
      state: "started",
      foreground: {
        url: daemon.url,
        warnings: daemon.warnings,
        stop: () => daemon.stop(),
        ended: daemon.ended.then((reason) => (reason === "fault" ? 1 : 0)),
      },
    };
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    const link = await ownDaemon(call, error);
    if (link !== null) return { state: "running", link };
    throw failedError(error.message, codeOf(error));
  }
}

async function ownDaemon(call: Call, error: StartupError): Promise<DaemonLink | null> {
  if (error.problem !== "running" && error.problem !== "port_ours") return null;
  const found = await findDaemon(call.paths, call.io.env);
  if (found.state === "running") return found.link;
  return error.url === null
    ? null
    : findDaemonAt(call.paths, call.io.env, { url: error.url, pid: error.pid });
}

function codeOf(error: StartupError): ErrorCode {
  if (error.problem === "disk") return "disk_full";
  return error.problem === "running" || error.problem === "port_ours" || error.problem === "port_taken"
    ? "conflict"
    : "internal";
}

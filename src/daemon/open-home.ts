import { isHostOrAddress } from "../config/check-listen.ts";
import type { Config } from "../config/config.ts";
import type { HomePaths } from "../config/home-paths.ts";
import { loadConfig } from "../config/load-config.ts";
import { parseRule } from "../engine/rules/parse-rule.ts";
import { SallyportError } from "../errors.ts";
import { systemClock } from "../lib/clock.ts";
import { openStateFile, type StateFile } from "../lib/state-file.ts";
import type { Closers } from "./closers.ts";
import { createDaemonLog, type DaemonLog } from "./create-log.ts";
import { openDaemonState, type StateStore } from "./daemon-state.ts";
import { readFixedToken } from "./fixed-token.ts";
import type { StartDaemonOptions } from "./running-daemon.ts";
import { StartupError } from "./startup-error.ts";
import { takeHome } from "./take-home.ts";
import { tidyHome } from "./tidy-home.ts";

/** What a daemon has when it holds its home: nothing of it is on the network yet. */
export interface OpenedHome {
  readonly log: DaemonLog;
  readonly config: Config;
  readonly stateFile: StateFile;
  readonly state: StateStore;
  /** Null: the one in `daemon.token`. */
  readonly fixedToken: string | null;
}

/** One that is ending has five seconds, and a start that follows a `kill` must not fail for being fast. */
const homeWaitMs = 6_000;

/** Checks and locks the home, then reads what is in it. */
export async function openHome(
  paths: HomePaths,
  options: StartDaemonOptions,
  closers: Closers,
): Promise<OpenedHome> {
  if (options.host !== null && !isHostOrAddress(options.host))
    throw new StartupError(
      "config",
      "--host takes one address or name of this machine, without scheme, port or brackets, as in: --host 192.168.1.20",
    );
  await takeHome({ paths, monotonicNow: systemClock.monotonicNow, waitMs: homeWaitMs });
  await tidyHome(paths.home);
  const level = options.env.SALLYPORT_LOG === "debug" ? "debug" : "info";
  const log = createDaemonLog({ path: paths.daemonLog, level, now: systemClock.now });
  closers.add("log", () => log.close());
  const config = await loadConfig(paths.config, { ruleProblem });
  const stateFile = await openStateFile({ path: paths.state });
  const state = openDaemonState(stateFile);
  const fixedToken = await readFixedToken(options.tokenFile, options.env);
  if (fixedToken !== null) log.protect(fixedToken);
  return { log, config, stateFile, state, fixedToken };
}

function ruleProblem(rawRule: string): string | null {
  try {
    parseRule(rawRule);
    return null;
  } catch (error) {
    if (error instanceof SallyportError) return error.message;
    throw error;
  }
}

import { isHostOrAddress } from "../config/check-listen.ts";
import type { Config } from "../config/config.ts";
import { loadCredentials } from "../config/credentials.ts";
import type { HomePaths } from "../config/home-paths.ts";
import { loadConfig } from "../config/load-config.ts";
import { systemClock } from "../lib/clock.ts";
import { openStateFile, type StateFile } from "../lib/state-file.ts";
import type { Closers } from "./closers.ts";
import { createDaemonLog, type DaemonLog } from "./create-log.ts";
import { openDaemonState, type StateStore } from "./daemon-state.ts";
import { readFixedToken } from "./fixed-token.ts";
import { createLiveConfig, type LiveConfig } from "./live-config.ts";
import { type FileMark, fileMark } from "./reload/watch-file.ts";
import { ruleProblem } from "./rule-problem.ts";
import type { StartDaemonOptions } from "./running-daemon.ts";
import { StartupError } from "./startup-error.ts";
import { takeHome } from "./take-home.ts";
import { tidyHome } from "./tidy-home.ts";

/** What a daemon has when it holds its home: nothing of it is on the network yet. */
export interface OpenedHome {
  readonly log: DaemonLog;
  readonly config: LiveConfig;
  /** `config.toml` as it was when it was read. */
  readonly configMark: FileMark;
  /** Why a start with the configuration and the keys as they are now would be refused, or null. */
  readonly checkFiles: () => Promise<string | null>;
  /** Reads it again, as at the start. */
  readonly loadConfig: () => Promise<Config>;
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
  const load = () => loadConfig(paths.config, { ruleProblem });
  // Before it is read: what is written after this is seen as a change.
  const configMark = await fileMark(paths.config);
  const config = createLiveConfig(await load());
  const stateFile = await openStateFile({ path: paths.state });
  const state = openDaemonState(stateFile);
  // Read by agents when they start; a damaged one is told now, not in the middle of a turn.
  const loadKeys = () => void loadCredentials(paths.credentials);
  loadKeys();
  const checkFiles = (): Promise<string | null> =>
    load()
      .then(loadKeys)
      .then(
        () => null,
        (error: Error) => error.message,
      );
  const fixedToken = await readFixedToken(options.tokenFile, options.env);
  if (fixedToken !== null) log.protect(fixedToken);
  return { log, config, configMark, loadConfig: load, checkFiles, stateFile, state, fixedToken };
}

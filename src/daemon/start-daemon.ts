import { homePaths } from "../config/home-paths.ts";
import { toTime } from "../lib/clock.ts";
import { type Log, silentLog } from "../lib/log.ts";
import { type Closers, createClosers } from "./closers.ts";
import { removeDaemonFile } from "./daemon-file.ts";
import { watchIdle } from "./idle.ts";
import { openCore } from "./open-core.ts";
import { openHome } from "./open-home.ts";
import { guardProcess, onSignals } from "./process-guard.ts";
import { openReload } from "./reload/open-reload.ts";
import type { EndReason, RunningDaemon, StartDaemonOptions } from "./running-daemon.ts";
import { serve } from "./serve.ts";
import { startFailure } from "./start-failure.ts";

const shutdownMs = 5_000;

/**
 * Starts the daemon of a home in this process and resolves when it can be reached and `daemon.json` says so. What was
 * begun is undone when a step fails.
 *
 * @throws StartupError with a text for the terminal
 */
export async function startDaemon(options: StartDaemonOptions): Promise<RunningDaemon> {
  const paths = homePaths(options.home);
  let log: Log = silentLog;
  const closers = createClosers(() => log);
  try {
    const home = await openHome(paths, options, closers);
    log = home.log;
    return await assemble(options, home, closers);
  } catch (error) {
    log.error({ err: error }, "the daemon did not start");
    await closers.run(shutdownMs);
    throw startFailure(error, paths.home);
  }
}

async function assemble(
  options: StartDaemonOptions,
  home: Awaited<ReturnType<typeof openHome>>,
  closers: Closers,
): Promise<RunningDaemon> {
  const { log, state, config } = home;
  const paths = homePaths(options.home);
  const ending = createEnding(async (reason) => {
    log.info({ reason }, "the daemon ends");
    if (reason === "stopped")
      await state.update({ access: "off", host: null }).catch((error: unknown) => {
        log.error({ err: error }, "exposure could not be forgotten: it is honoured at the next start");
      });
    await closers.run(shutdownMs);
  });
  closers.add(
    "process guard",
    guardProcess(log, () => process.exit(1)),
  );
  const core = await openCore(options, home, closers);
  const served = await serve({
    options,
    home,
    core,
    closers,
    end: ending.end,
    reason: ending.reason,
  });
  closers.add(
    "idle watch",
    watchIdle({
      idleMinutes: () => config.current.idleMinutes,
      activity: served.activity,
      monotonicNow: core.clock.monotonicNow,
      onIdle: () => ending.end("idle"),
    }),
  );
  const reload = openReload({
    path: paths.config,
    mark: home.configMark,
    load: home.loadConfig,
    live: config,
    parts: served.configParts,
    undisturbed: served.undisturbed,
    changeLog: core.changeLog,
    log,
  });
  closers.add("settings", () => reload.close());
  const end = (): void => void ending.end("signal");
  // Not taken off while it ends: a second signal must not cut the end short.
  onSignals({ end, hangUp: options.hangUp === "end" ? end : reload.now });
  await served.announce();
  closers.add("daemon.json", () => removeDaemonFile(paths.daemonFile, core.instance));
  log.info(
    { url: served.url, version: options.version, started: toTime(core.startedMs), access: served.access() },
    "the daemon is ready",
  );
  return {
    home: options.home,
    url: served.url,
    port: served.port,
    masterToken: core.authority.master.token,
    warnings: served.warnings,
    openDoor: served.openDoor,
    ended: ending.ended,
    stop: () => ending.end("signal"),
  };
}

interface Ending {
  /** Begins the end, once: later reasons change nothing. Resolves when it has ended. */
  end(reason: EndReason): Promise<void>;
  reason(): EndReason | null;
  readonly ended: Promise<EndReason>;
}

function createEnding(run: (reason: EndReason) => Promise<void>): Ending {
  let reason: EndReason | null = null;
  let resolveEnded: (reason: EndReason) => void = () => undefined;
  const ended = new Promise<EndReason>((resolve) => {
    resolveEnded = resolve;
  });
  return {
    ended,
    reason: () => reason,
    async end(why) {
      if (reason === null) {
        reason = why;
        await run(why);
        resolveEnded(why);
      }
      await ended;
    },
  };
}

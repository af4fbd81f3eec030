import { homePaths } from "../config/home-paths.ts";
import { type ChangeLog, createChangeLog } from "../engine/change-log.ts";
import { createEngine } from "../engine/create-engine.ts";
import type { Engine } from "../engine/engine.ts";
import { createJobs } from "../engine/jobs/create-jobs.ts";
import { judgeCall } from "../engine/rules/judge-call.ts";
import { createAcpRuntime } from "../engine/runtimes/acp/create-acp-runtime.ts";
import { createReplayRuntime } from "../engine/runtimes/replay.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { createDeviceAuthority, type DeviceAuthority } from "../pairing/device-authority.ts";
import { createAgentRuntimes } from "./agents/agent-runtimes.ts";
import type { KeepAwake } from "./awake/keep-awake.ts";
import { openKeepAwake } from "./awake/open-keep-awake.ts";
import type { Closers } from "./closers.ts";
import { keepHeapSmall } from "./keep-heap-small.ts";
import type { OpenedHome } from "./open-home.ts";
import type { StartDaemonOptions } from "./running-daemon.ts";

/** What a daemon does and knows, before anybody can reach it. */
export interface Core {
  readonly clock: Clock;
  readonly startedMs: number;
  /** Random per process: revs mean something only together with it. */
  readonly instance: string;
  readonly authority: DeviceAuthority;
  readonly changeLog: ChangeLog;
  readonly engine: Engine;
  readonly keepAwake: KeepAwake;
  onDevicesChanged(listener: () => void): void;
  onMasterRotated(listener: (token: string) => void): void;
}

/** The ring of changes for clients that come back. */
const ring = { maxCount: 10_000, maxBytes: 8 * 1024 * 1024 };
/** Jobs are ended before the disk is so full that the daemon itself could write nothing. */
const freeDiskFloorBytes = 256 * 1024 * 1024;

/** Opens devices and secrets, jobs and the engine. */
export async function openCore(
  options: StartDaemonOptions,
  home: OpenedHome,
  closers: Closers,
): Promise<Core> {
  keepHeapSmall();
  const { log, config } = home;
  const paths = homePaths(options.home);
  const clock = systemClock;
  const instance = newId();
  let devicesChanged: () => void = () => undefined;
  let masterRotated: (token: string) => void = () => undefined;

  const authority = await createDeviceAuthority({
    paths,
    fixedMasterToken: home.fixedToken,
    clock,
    onDevicesChanged: () => devicesChanged(),
    onMasterRotated(token) {
      log.protect(token);
      masterRotated(token);
    },
    onProblem: (problem) => log.error({ err: problem }, "a problem with the files of devices and tokens"),
  });
  closers.add("devices and tokens", () => authority.close());
  log.protect(authority.master.token);

  const changeLog = createChangeLog({
    instance,
    ...ring,
    onListenerError: (error) => log.error({ err: error }, "a listener of the change log failed"),
  });
  const jobs = await createJobs({
    jobsFolder: paths.jobs,
    now: clock.now,
    // Asked at each use: settings change while jobs run.
    limits: {
      get maxLogBytes() {
        return config.current.jobs.maxLogBytes;
      },
      get maxTotalBytes() {
        return config.current.jobs.maxTotalBytes;
      },
      get keepDays() {
        return config.current.jobs.keepDays;
      },
      freeDiskFloorBytes,
    },
    environment: options.env,
    onWarning: (message) => log.warn({}, message),
  });
  closers.add("jobs", () => jobs.close());
  const agentRuntimes = createAgentRuntimes({
    config: () => config.current,
    credentialsPath: paths.credentials,
    create: createAcpRuntime,
    protect: (secret) => log.protect(secret),
    monotonicNow: clock.monotonicNow,
    jobs,
    environment: options.env,
    homeFolder: options.home,
    now: clock.now,
    report: (problem) => log.warn({}, problem),
  });
  closers.add("agents", () => agentRuntimes.close());
  const engine = await createEngine({
    home: options.home,
    changeLog,
    jobs,
    judgeCall,
    rules: () => config.current.rules,
    state: home.stateFile,
    startFolder: options.cwd,
    browseRoot: () => config.current.browseRoot,
    agentRuntimes,
    runtimes: [createReplayRuntime({ scripts: () => config.current.replayScripts, now: clock.now })],
    tabRuntime: () => config.current.runtime,
    now: clock.now,
    report: (problem) => log.warn({}, problem),
  });
  closers.add("engine", () => engine.close());
  const keepAwake = openKeepAwake({ engine, changeLog, env: options.env, log });
  closers.add("keep awake", () => keepAwake.close());
  return {
    clock,
    startedMs: clock.now(),
    instance,
    authority,
    changeLog,
    engine,
    keepAwake,
    onDevicesChanged(listener) {
      devicesChanged = listener;
    },
    onMasterRotated(listener) {
      masterRotated = listener;
    },
  };
}

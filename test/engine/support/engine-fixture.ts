import { mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Actor } from "../../../src/engine/actor.ts";
import { type ChangeLog, createChangeLog } from "../../../src/engine/change-log.ts";
import { createEngine, type EngineOptions } from "../../../src/engine/create-engine.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import type { JudgeCall } from "../../../src/engine/rules/rules.ts";
import type { Runtime } from "../../../src/engine/runtimes/runtime.ts";
import { SallyportError } from "../../../src/errors.ts";
import { openStateFile } from "../../../src/lib/state-file.ts";
import type { Change } from "../../../src/protocol/changes.ts";
import type { AgentEvent, AgentEventType } from "../../../src/protocol/events.ts";
import type { Scope } from "../../../src/protocol/scopes.ts";
import { createFakeJobs, type FakeJobs } from "./fake-jobs.ts";

export const allScopes: readonly Scope[] = ["view", "drive", "approve", "admin"];

export interface TestActor extends Actor {
  revoke(): void;
}

/** A device, or without a name the local master. */
export function actor(name: string | null = null, scopes: readonly Scope[] = allScopes): TestActor {
  let ended = false;
  const listeners = new Set<() => void>();
  return {
    by: name === null ? { device: null, name: "local" } : { device: `device-${name}`, name },
    has: (scope) => scopes.includes(scope),
    assertLive() {
      if (ended) throw new SallyportError("unauthorized", "This device is not paired any more.");
    },
    onEnd(listener) {
      if (ended) listener();
      else listeners.add(listener);
      return () => listeners.delete(listener);
    },
    revoke() {
      ended = true;
      for (const listener of listeners) listener();
    },
  };
}

export const local = actor();

export interface Fixture {
  readonly home: string;
  /** Real path of the folder of the first tab. */
  readonly project: string;
  readonly jobs: FakeJobs;
  readonly changes: Change[];
  readonly problems: string[];
  readonly log: ChangeLog;
  engine: Engine;
  nowMs: number;
  /** Opens the home anew, as after a crash: nothing of the old engine is closed. */
  restart(options?: Partial<EngineOptions>): Promise<Engine>;
  /** Resolves with the first event of this type that was or will be announced after `from` changes. */
  event<T extends AgentEventType>(
    type: T,
    where?: (event: Extract<AgentEvent, { type: T }>) => boolean,
  ): Promise<Extract<AgentEvent, { type: T }>>;
  change(where: (change: Change) => boolean): Promise<Change>;
  events(): AgentEvent[];
  transcript(agent: string): Promise<AgentEvent[]>;
  dispose(): Promise<void>;
}

export interface FixtureOptions extends Partial<EngineOptions> {
  /** Runtimes that need to know the home; made anew for each engine on it. */
  readonly runtimesFor?: (home: string) => readonly Runtime[];
}

export const askAlways: JudgeCall = (call) => ({ verdict: "ask", allowSession: `bash(${call.subject})` });
export const allowAll: JudgeCall = () => ({ verdict: "allow", by: "test" });

/** An engine on a temporary home with jobs that need no process. Every call asks unless `judgeCall` says otherwise. */
export async function engineFixture({ runtimesFor, ...overrides }: FixtureOptions = {}): Promise<Fixture> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "sallyport-engine-")));
  const home = join(root, "home");
  const project = join(root, "work", "project");
  await mkdir(home, { mode: 0o700 });
  await mkdir(project, { recursive: true });
  const changes: Change[] = [];
  const problems: string[] = [];
  const wake = new Set<() => void>();
  const crashed: Engine[] = [];
  let log = openLog();

  function openLog(): ChangeLog {
    const opened = createChangeLog({ instance: "test", maxCount: 10_000, maxBytes: 64 * 1024 * 1024 });
    opened.subscribe((logged) => {
      changes.push(logged.change);
      for (const each of wake) each();
    });
    return opened;
  }

  async function open(options: Partial<EngineOptions> = {}): Promise<Engine> {
    const jobs = fixture.jobs;
    return createEngine({
      home,
      changeLog: log,
      jobs,
      judgeCall: askAlways,
      rules: () => ({ allow: [], deny: [] }),
      state: await openStateFile({ path: join(home, "state.json") }),
      startFolder: project,
      browseRoot: () => join(root, "work"),
      now: () => fixture.nowMs,
      report: (problem) => problems.push(problem),
      ...(runtimesFor ? { runtimes: runtimesFor(home) } : {}),
      ...overrides,
      ...options,
    });
  }

  function until<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        wake.delete(look);
        resolve(found);
      };
      wake.add(look);
      look();
    });
  }

  const fixture = {
    home,
    project,
    jobs: createFakeJobs(),
    changes,
    problems,
    get log() {
      return log;
    },
    nowMs: 1_800_000_000_000,
    async restart(options: Partial<EngineOptions> = {}) {
      crashed.push(fixture.engine);
      changes.length = 0;
      log = openLog();
      fixture.jobs = createFakeJobs();
      fixture.engine = await open(options);
      return fixture.engine;
    },
    event(type: AgentEventType, where: (event: never) => boolean = () => true) {
      return until(() => fixture.events().find((event) => event.type === type && where(event as never)));
    },
    change: (where: (change: Change) => boolean) => until(() => changes.find(where)),
    events: () => changes.flatMap((change) => (change.type === "event" ? [change.event] : [])),
    async transcript(agent: string) {
      const text = await readFile(join(home, "sessions", `${agent}.jsonl`), "utf8");
      return text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as AgentEvent);
    },
    async dispose() {
      for (const engine of [...crashed, fixture.engine]) await engine.close();
      await rm(root, { recursive: true, force: true });
    },
  } as unknown as Fixture & { jobs: FakeJobs };
  fixture.engine = await open();
  return fixture;
}

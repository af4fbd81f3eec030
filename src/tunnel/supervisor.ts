import { toTime } from "../lib/clock.ts";
import { randomSecret } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { Tunnel } from "../protocol/objects.ts";
import { backOffMs } from "./back-off.ts";
import { createBell } from "./bell.ts";
import { type DialEnd, type DialState, type TunnelDoor, watchDial } from "./dial.ts";
import type { ProbeResult } from "./probe.ts";
import type { TunnelPlan } from "./provider.ts";
import { type TunnelTiming, tunnelTiming } from "./timing.ts";
import { adoptChild, type ChildRecord, reapChild, spawnChild, type TunnelChild } from "./tunnel-child.ts";

export const noTunnel: Tunnel = {
  provider: null,
  state: "off",
  url: null,
  text: null,
  link: null,
  reason: null,
  next_try: null,
};

export interface SupervisorOptions {
  /** For the tools' output; private, and nobody else writes there. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly probe: (provider: string, url: string, signal: AbortSignal) => Promise<ProbeResult>;
  /** The state is another now. */
  readonly onChange: (tunnel: Tunnel) => void;
  /** What a daemon that follows must know of the tool that runs; null: none. Memory first; never rejects. */
  readonly remember: (child: RememberedChild | null) => Promise<void>;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly log: Log;
  readonly timing?: TunnelTiming;
}

export interface RememberedChild extends ChildRecord {
  /** The address that was proved; null before. */
  readonly url: string | null;
}

export interface TunnelStart {
  readonly provider: string;
  readonly plan: TunnelPlan;
  /** Absolute path. */
  readonly program: string;
  readonly openDoor: () => Promise<TunnelDoor>;
  /** A tool that an earlier daemon handed over, or left behind. */
  readonly inherited: RememberedChild | null;
}

export interface Supervisor {
  readonly current: Tunnel;
  /** Replaces what runs. Returns at once; how it goes is told by `onChange`. */
  start(start: TunnelStart): void;
  /** Says why nothing was started. */
  fail(provider: string, reason: string): void;
  /** Resolves when the tool and its helpers are gone and the door is closed. */
  stop(): Promise<void>;
  /** Leaves the tool to the daemon that follows, if it is up; else as `stop`. */
  handOver(): Promise<void>;
}

/** One attempt after the other for one order. Whatever it still hears after its end is not its business any more. */
interface Run {
  readonly start: TunnelStart;
  readonly ending: AbortController;
  child: TunnelChild | null;
  /** Set when the tool is to be left alone. */
  leave: boolean;
  done: Promise<void>;
}

/** Keeps one tunnel up: starts the tool, watches it, starts it anew, and ends it. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { log, now, monotonicNow } = options;
  const timing = options.timing ?? tunnelTiming;
  let current: Tunnel = noTunnel;
  let run: Run | null = null;
  /** What must be gone before the next tool starts: two of one provider would fight for one address. */
  let cleared: Promise<void> = Promise.resolve();

  function show(of: Run | null, next: Tunnel): void {
    if (of !== run || JSON.stringify(next) === JSON.stringify(current)) return;
    if (next.state !== current.state)
      log.info(
        { provider: next.provider, state: next.state, reason: next.reason },
        "the tunnel's state changed",
      );
    current = next;
    options.onChange(next);
  }

  async function keepUp(of: Run): Promise<void> {
    const { start, ending } = of;
    const { signal } = ending;
    const base = { ...noTunnel, provider: start.provider };
    const door = await start.openDoor();
    try {
      let inherited = start.inherited;
      let failures = 0;
      let dueMs: number | null = null;
      // Said at once, while what is left of the tool is still being ended.
      const fail = ({ reason, final, upMs }: DialEnd): void => {
        if (signal.aborted) return;
        failures = upMs >= timing.steadyMs ? 1 : failures + 1;
        log.warn({ provider: start.provider, reason }, "the tunnel is down");
        const delayMs = final ? null : backOffMs(failures);
        dueMs = delayMs === null ? null : monotonicNow() + delayMs;
        const next = delayMs === null ? null : toTime(now() + delayMs);
        show(of, { ...base, state: "failed", reason, next_try: next });
      };
      while (!signal.aborted) {
        show(of, { ...base, state: "starting" });
        await attempt(of, door, inherited, fail);
        inherited = null;
        if (dueMs === null) break;
        await createBell().wait(Math.max(0, dueMs - monotonicNow()), signal);
      }
    } finally {
      if (!of.leave) await door.close();
    }
  }

  async function attempt(
    of: Run,
    door: TunnelDoor,
    inherited: RememberedChild | null,
    fail: (end: DialEnd) => void,
  ): Promise<void> {
    const { start, ending } = of;
    const { signal } = ending;
    const base = { ...noTunnel, provider: start.provider };
    let child: TunnelChild;
    let knownUrl: string | null = null;
    try {
      const taken = inherited === null ? null : await takeOver(inherited);
      knownUrl = taken === null ? null : (inherited?.url ?? null);
      child = taken ?? (await launch(start, door.port));
    } catch (error) {
      return fail({
        reason: `${start.provider} could not be started (${textOf(error)}).`,
        final: false,
        upMs: 0,
      });
    }
    of.child = child;
    let url = knownUrl;
    await options.remember({ ...child.record, url });
    try {
      const end = await watchDial(
        {
          provider: start.provider,
          plan: start.plan,
          child,
          door,
          probe: (address, aborted) => options.probe(start.provider, address, aborted),
          show(state: DialState) {
            if (signal.aborted) return;
            show(of, { ...base, ...state });
            if (state.state !== "up" || state.url === url) return;
            url = state.url;
            void options.remember({ ...child.record, url });
          },
          timing,
          monotonicNow,
          knownUrl,
        },
        signal,
      );
      fail(end);
    } finally {
      if (!of.leave) {
        await child.stop();
        await options.remember(null);
      }
      of.child = null;
    }
  }

  async function takeOver(inherited: RememberedChild): Promise<TunnelChild | null> {
    const taken = inherited.url === null ? null : await adoptChild(options.folder, inherited);
    if (taken === null) await reapChild(options.folder, inherited);
    return taken;
  }

  function launch({ plan, program }: TunnelStart, port: number): Promise<TunnelChild> {
    const command = plan.command(port);
    return spawnChild({
      folder: options.folder,
      generation: randomSecret(9),
      words: [program, ...command.args],
      env: { ...toolEnvironment(options.environment), ...command.env },
    });
  }

  /** Ends the run and yields when all of it is gone. */
  function end(): Promise<void> {
    const ended = run;
    run = null;
    if (ended !== null) {
      ended.ending.abort();
      cleared = ended.done;
    }
    return cleared;
  }

  return {
    get current() {
      return current;
    },
    start(start) {
      const before = end();
      const next: Run = { start, ending: new AbortController(), child: null, leave: false, done: before };
      run = next;
      show(next, { ...noTunnel, provider: start.provider, state: "starting" });
      next.done = before
        .then(() => (next.ending.signal.aborted ? undefined : keepUp(next)))
        .catch((error: unknown) => {
          log.error({ err: error }, "the tunnel's supervisor failed");
          show(next, { ...noTunnel, provider: start.provider, state: "failed", reason: textOf(error) });
        });
    },
    fail(provider, reason) {
      void end();
      show(null, { ...noTunnel, provider, state: "failed", reason });
    },
    async stop() {
      const gone = end();
      show(null, noTunnel);
      await gone;
    },
    async handOver() {
      const leaving = run;
      if (leaving?.child && current.state === "up") {
        leaving.leave = true;
        await leaving.child.handOver();
      }
      await end();
    },
  };
}

/** Ours without what is about us: a tool must not learn tokens, nor think that it is a job. */
function toolEnvironment(raw: SupervisorOptions["environment"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(raw).flatMap(([name, value]) =>
      value === undefined || name.startsWith("SALLYPORT_") || name === "NODE_OPTIONS" ? [] : [[name, value]],
    ),
  );
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

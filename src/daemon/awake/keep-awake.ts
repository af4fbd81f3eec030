import type { Log } from "../../lib/log.ts";
import type { Awake } from "../../protocol/objects.ts";
import type { Inhibitor } from "./hold-inhibitor.ts";
import type { InhibitorChoice, InhibitorCommand } from "./inhibitor-command.ts";

export interface KeepAwakeOptions {
  /** Looks for the tool; called again for every change of the mode, because it may have been installed meanwhile. */
  readonly find: () => InhibitorChoice;
  /** Rejects with the tool's words when it cannot hold. */
  readonly hold: (command: InhibitorCommand) => Promise<Inhibitor>;
  /** True while a turn or a job runs. */
  readonly isBusy: () => boolean;
  /** Tells all clients. */
  readonly announce: (awake: Awake) => void;
  readonly log: Log;
  /** How long it stays awake after the last work: one job after the other must not start the tool each time. */
  readonly lingerMs: number;
  /** When to try again after somebody ended the tool, or after it could not hold. */
  readonly retryMs: number;
}

export interface KeepAwake {
  current(): Awake;
  /** Counts until the daemon ends. Resolves when the tool holds, has let go, or is known to be of no use. */
  set(mode: Awake["mode"]): Promise<Awake>;
  /** Something began or ended: cheap, and may be called for every change. */
  look(): void;
  /** Lets go and does nothing more. */
  close(): Promise<void>;
}

/** Keeps the machine from sleeping: never, always, or while turns or jobs run. It is off after every start of the daemon. */
export function createKeepAwake(options: KeepAwakeOptions): KeepAwake {
  let mode: Awake["mode"] = "off";
  let held: Inhibitor | null = null;
  let missing = missingOf(options.find());
  let failure: string | null = null;
  let told = JSON.stringify(view());
  let timer: NodeJS.Timeout | null = null;
  let looking = false;
  let closed = false;
  let settling: Promise<void> | null = null;
  let again = false;
  let mayTry = true;

  function view(): Awake {
    const problem = missing ?? failure;
    const shown = { mode, active: held !== null, available: problem === null };
    return problem === null ? shown : { ...shown, message: `This machine cannot be kept awake: ${problem}` };
  }
  function tell(): void {
    const text = JSON.stringify(view());
    if (text === told) return;
    told = text;
    options.announce(view());
  }
  const isWanted = (): boolean => !closed && (mode === "always" || (mode === "busy" && options.isBusy()));

  function settle(): Promise<void> {
    again = true;
    settling ??= settleAll().finally(() => {
      settling = null;
    });
    return settling;
  }
  async function settleAll(): Promise<void> {
    while (again) {
      again = false;
      if (timer) clearTimeout(timer);
      timer = null;
      if (isWanted()) await take();
      else await letGo();
      tell();
    }
  }
  function settleIn(ms: number): void {
    if (closed || timer) return;
    timer = setTimeout(() => {
      timer = null;
      mayTry = true;
      void settle();
    }, ms);
    timer.unref();
  }

  async function take(): Promise<void> {
    if (held !== null || !mayTry) return;
    mayTry = false;
    const choice = options.find();
    missing = missingOf(choice);
    for (const command of "commands" in choice ? choice.commands : []) {
      const taken = await options.hold(command).catch((error: unknown) => {
        failure = `${command.program} says: ${reasonOf(error)}`;
        return null;
      });
      if (taken === null) continue;
      failure = null;
      held = taken;
      void taken.ended.then(() => onEnd(taken));
      return;
    }
    options.log.warn({ problem: missing ?? failure }, "this machine cannot be kept awake");
    settleIn(options.retryMs);
  }
  function onEnd(which: Inhibitor): void {
    if (held !== which) return;
    options.log.warn({}, "what kept this machine awake was ended by somebody else");
    held = null;
    tell();
    settleIn(options.retryMs);
  }
  async function letGo(): Promise<void> {
    mayTry = true;
    if (held === null) return;
    const released = held;
    held = null;
    await released.release().catch((error: unknown) => {
      options.log.error({ err: error }, "what keeps this machine awake could not be ended");
    });
  }

  return {
    current: view,
    async set(next) {
      mode = next;
      mayTry = true;
      missing = missingOf(options.find());
      // The new mode is known at once, whatever the tool will say.
      tell();
      await settle();
      return view();
    },
    look() {
      if (mode !== "busy" || looking || closed) return;
      looking = true;
      setImmediate(() => {
        looking = false;
        if (isWanted() === (held !== null)) return;
        if (held !== null) settleIn(options.lingerMs);
        else if (mayTry) void settle();
      });
    },
    async close() {
      closed = true;
      await settle();
      if (timer) clearTimeout(timer);
    },
  };
}

function missingOf(choice: InhibitorChoice): string | null {
  return "missing" in choice ? choice.missing : null;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

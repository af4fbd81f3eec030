import { commands } from "../../src/cli/commands.ts";
import type { InterruptSignal, Io } from "../../src/cli/io.ts";
import { runCli } from "../../src/cli/run-cli.ts";

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}
export interface RunningCli {
  readonly done: Promise<Ran>;
  /** Types keys, as a person at the terminal. */
  type(keys: string): void;
  signal(name: InterruptSignal): void;
  /** Resolves when stderr or stdout has contained `text`. */
  shows(text: string): Promise<void>;
}
export interface CliSetting {
  readonly home: string;
  readonly isTerminal?: boolean;
  readonly hasKeyboard?: boolean;
  /** Nobody reads stdout any more, as behind `| head`. */
  readonly isReaderGone?: boolean;
  /** What is piped in; without it an empty stdin. */
  readonly input?: string | AsyncIterable<Uint8Array>;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly now?: () => number;
  readonly self?: readonly [string, ...string[]];
}

/** Starts one command line in this process, with streams that are kept. */
export function startCli(argv: readonly string[], setting: CliSetting): RunningCli {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  const keyListeners = new Set<(key: string) => void>();
  let typedAhead = "";
  const type = (keys: string): void => {
    if (keyListeners.size === 0) typedAhead += keys;
    for (const key of keys) for (const listener of [...keyListeners]) listener(key);
  };
  const signals = new Map<InterruptSignal, Set<() => void>>();
  const watchers = new Set<() => void>();
  const output = (chunks: Buffer[], isGone = false): Io["stdout"] => ({
    isTerminal: setting.isTerminal === true,
    columns: 120,
    async write(data) {
      if (isGone) throw Object.assign(new Error("write EPIPE"), { code: "EPIPE", syscall: "write" });
      chunks.push(Buffer.from(data));
      for (const watcher of [...watchers]) watcher();
    },
  });
  const io: Io = {
    stdout: output(out, setting.isReaderGone),
    stderr: output(err),
    keyboard: setting.hasKeyboard
      ? {
          listen(listener) {
            keyListeners.add(listener);
            // A terminal keeps what nobody has read yet; it arrives with the next round of input.
            const kept = typedAhead;
            typedAhead = "";
            if (kept !== "") setImmediate(() => setImmediate(() => type(kept)));
            return () => keyListeners.delete(listener);
          },
        }
      : null,
    input: typeof setting.input === "object" ? setting.input : pipe(setting.input ?? ""),
    env: { PATH: process.env.PATH ?? "", ...setting.env },
    cwd: setting.cwd ?? process.cwd(),
    platform: process.platform,
    now: setting.now ?? Date.now,
    self: setting.self ?? [process.execPath, "-e", "process.exit(9)"],
    onSignal(name, listener) {
      const listeners = signals.get(name) ?? new Set();
      signals.set(name, listeners.add(listener));
      return () => listeners.delete(listener);
    },
  };
  const done = runCli({ argv: ["--home", setting.home, ...argv], io, version: "1.0.0", commands }).then(
    (exitCode) => ({
      exitCode,
      stdout: Buffer.concat(out).toString("utf8"),
      stderr: Buffer.concat(err).toString("utf8"),
    }),
  );
  return {
    done,
    type,
    signal: (name) => {
      for (const listener of [...(signals.get(name) ?? [])]) listener();
    },
    shows: (text) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!Buffer.concat([...out, ...err]).includes(text)) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
  };
}

async function* pipe(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

export function cli(argv: readonly string[], setting: CliSetting): Promise<Ran> {
  return startCli(argv, setting).done;
}

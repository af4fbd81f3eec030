import type { Buffer } from "node:buffer";

/** Where text goes. `write` resolves when the stream can take more, and rejects when its reader has gone. */
export interface Output {
  readonly isTerminal: boolean;
  /** Width in columns; 80 where unknown. */
  readonly columns: number;
  write(data: string | Uint8Array): Promise<void>;
}

/** Keys as they are typed. Null where no person is at the keyboard. */
export interface Keyboard {
  /** Calls `listener` once for each key until the returned function is called; the terminal is raw meanwhile. */
  listen(listener: (key: string) => void): () => void;
}

export type InterruptSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** All that a command touches of its process, so that tests can stand in for it. */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly keyboard: Keyboard | null;
  /** What comes on a stdin that is no terminal, as it comes. */
  readonly input: AsyncIterable<Uint8Array>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly now: () => number;
  /** Program and first words that start this very program again. */
  readonly self: readonly [string, ...string[]];
  /** Takes a signal away from its default; returns how to give it back. */
  onSignal(signal: InterruptSignal, listener: () => void): () => void;
}

interface RawInput {
  readonly isTTY?: boolean;
  setRawMode?(on: boolean): unknown;
  on(event: "data", listener: (data: Buffer) => void): unknown;
  off(event: "data", listener: (data: Buffer) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** The real process. */
export function processIo(): Io {
  return {
    stdout: streamOutput(process.stdout),
    stderr: streamOutput(process.stderr),
    keyboard: process.stdin.isTTY ? terminalKeyboard(process.stdin) : null,
    input: process.stdin,
    env: process.env,
    cwd: process.cwd(),
    platform: process.platform,
    now: Date.now,
    self: [process.execPath, ...process.execArgv, process.argv[1] ?? ""],
    onSignal(signal, listener) {
      process.on(signal, listener);
      return () => process.off(signal, listener);
    },
  };
}

/** Wraps a Node stream: waits for a full pipe, and turns a reader that went away (EPIPE) into a rejection. */
function streamOutput(stream: NodeJS.WritableStream & { isTTY?: boolean; columns?: number }): Output {
  let broken: Error | null = null;
  stream.on("error", (error: Error) => {
    broken = error;
  });
  return {
    get isTerminal() {
      return stream.isTTY === true;
    },
    get columns() {
      // A pseudo-terminal that was told no size says 0.
      return stream.columns || 80;
    },
    write(data) {
      if (broken) return Promise.reject(broken);
      return new Promise((resolve, reject) => {
        stream.write(data, (error) => (error ? reject(error) : resolve()));
      });
    },
  };
}

/** Keys of a terminal in raw mode. Ctrl-C arrives as the key `\u0003`, not as a signal. */
function terminalKeyboard(input: RawInput): Keyboard {
  return {
    listen(listener) {
      const hear = (data: Buffer): void => {
        for (const key of data.toString("utf8")) listener(key);
      };
      input.setRawMode?.(true);
      input.on("data", hear);
      input.resume();
      return () => {
        input.off("data", hear);
        input.setRawMode?.(false);
        input.pause();
      };
    },
  };
}

import type { HomePaths } from "../config/home-paths.ts";
import type { Io } from "./io.ts";
import type { Printer } from "./printer.ts";

/** What a command is given: its words and options, parsed, and the process around it. */
export interface Call {
  readonly io: Io;
  readonly out: Printer;
  readonly paths: HomePaths;
  readonly json: boolean;
  /** The name after `-C`: a paired daemon elsewhere. Null: this home's own. */
  readonly remote: string | null;
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly version: string;
}

/** One option as commander writes it: `--port <n>`; a last `…` in the value's name means that it repeats. */
export interface OptionSpec {
  readonly flags: string;
  readonly about: string;
}

/** A command as data; `commands.ts` lists them all. */
export interface CommandSpec {
  /** Name and arguments: `revoke <id>`. */
  readonly usage: string;
  readonly about: string;
  readonly examples: readonly string[];
  readonly options?: readonly OptionSpec[];
  /** Takes `--json`. */
  readonly json?: boolean;
  /** Everything from the first word on belongs to the command, options included. */
  readonly passThrough?: boolean;
  /** Works with `-C NAME` too. Everything else is about this machine. */
  readonly anywhere?: boolean;
  readonly children?: readonly CommandSpec[];
  /** Yields the exit code. A group without it only has children. */
  readonly run?: (call: Call) => Promise<number>;
}

/** An option that is text; null when it was not given. */
export function textOption(call: Call, name: string): string | null {
  const value = call.options[name];
  return typeof value === "string" ? value : null;
}

/** True when the switch was given. */
export function isOn(call: Call, name: string): boolean {
  return call.options[name] === true;
}

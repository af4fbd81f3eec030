import { Command, CommanderError, Option } from "commander";
import { homePaths, resolveHome } from "../config/home-paths.ts";
import { nearestKey } from "../config/nearest-key.ts";
import { plainText } from "../lib/visible-text.ts";
import { type CliError, describeFailure, exitCodes, usageError } from "./cli-error.ts";
import type { Call, CommandSpec } from "./command.ts";
import type { Io } from "./io.ts";
import { createPrinter } from "./printer.ts";
import { inline } from "./text.ts";

export interface CliOptions {
  /** The words after the program's name. */
  readonly argv: readonly string[];
  readonly io: Io;
  readonly version: string;
  readonly commands: readonly CommandSpec[];
}

/** Runs one command line; yields the exit code. Never rejects. */
export async function runCli(options: CliOptions): Promise<number> {
  const { argv, io } = options;
  let exitCode: number = exitCodes.done;
  const program = buildProgram(options, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    if (isReaderGone(error)) return exitCodes.failed;
    const failure = describeFailure(error instanceof CommanderError ? usageOf(error, program, argv) : error);
    // The reader of our output may be gone; the exit code still tells.
    if (wantsJson(argv)) await io.stdout.write(`${JSON.stringify(failure.body)}\n`).catch(() => undefined);
    // A daemon elsewhere writes parts of it.
    await io.stderr
      .write(`sallyport: ${plainText(failure.message, { lines: true })}\n`)
      .catch(() => undefined);
    return failure.exitCode;
  }
}

function buildProgram(options: CliOptions, finish: (exitCode: number) => void): Command {
  const { io, version } = options;
  const program = new Command("sallyport");
  program
    .description("Leave your desk: drive the agents and jobs of this machine from phone, laptop or browser.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .enablePositionalOptions()
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text).catch(() => undefined),
      // Errors are printed once, by `runCli`; only a help text that answers a wrong usage comes here.
      writeErr: (text) =>
        void (text.startsWith("error:") ? null : io.stderr.write(text).catch(() => undefined)),
      getOutHelpWidth: () => io.stdout.columns,
      getErrHelpWidth: () => io.stderr.columns,
    });
  addHome(program);
  program.option("-C, --connect <name>", "a paired daemon elsewhere; see: sallyport connect");
  program.addHelpText("after", "\nExamples:\n  sallyport up\n  sallyport -C box run -- make\n");
  for (const spec of options.commands) addCommand(program, options, spec, finish);
  addHelp(program);
  program
    .allowUnknownOption()
    .allowExcessArguments(true)
    .action(async () => {
      refuseLeftWords(program);
      program.help({ error: true });
    });
  return program;
}

/** `help jobs kill` is what `jobs kill --help` is. */
function addHelp(program: Command): void {
  program
    .command("help [command...]", { hidden: true })
    .passThroughOptions()
    .allowUnknownOption()
    .action((words: readonly string[]) => {
      const [first] = words;
      const isKnown = program.commands.some((command) => command.name() === first);
      if (first !== undefined && !isKnown) throw noCommand(program, first);
      namedCommand(program, words).help();
    });
}

function addCommand(
  parent: Command,
  options: CliOptions,
  spec: CommandSpec,
  finish: (exitCode: number) => void,
): void {
  const command = parent
    .command(spec.usage)
    .summary(firstSentence(spec.about))
    .description(spec.about)
    .allowExcessArguments(false);
  addHome(command);
  if (spec.json === true) command.option("--json", "print one JSON value on stdout and nothing else");
  for (const option of spec.options ?? []) command.addOption(new Option(option.flags, option.about));
  if (spec.passThrough === true) command.passThroughOptions();
  command.addHelpText(
    "after",
    `\nExample${spec.examples.length > 1 ? "s" : ""}:\n${spec.examples.map((line) => `  ${line}`).join("\n")}\n`,
  );
  for (const child of spec.children ?? []) addCommand(command, options, child, finish);
  if (spec.children) command.allowUnknownOption().allowExcessArguments(true);
  command.action(async (...given: unknown[]) => {
    if (spec.children) refuseLeftWords(command);
    if (!spec.run) command.help({ error: true });
    else {
      const call = callOf(command, options, given);
      if (call.remote !== null && spec.anywhere !== true)
        throw usageError(
          `"${pathOf(command).slice(1).join(" ")}" is about this machine; it cannot be done on "${inline(call.remote)}" from here. Leave -C away, or run it there.`,
        );
      finish(await spec.run(call));
    }
  });
}

function callOf(command: Command, options: CliOptions, given: readonly unknown[]): Call {
  const merged: Record<string, unknown> = command.optsWithGlobals();
  const json = merged.json === true;
  return {
    io: options.io,
    out: createPrinter(options.io, json),
    paths: homePaths(homeOf(merged.home, options.io)),
    json,
    remote: typeof merged.connect === "string" ? merged.connect : null,
    // Commander hands over the arguments, then the options and the command itself.
    words: given
      .slice(0, -2)
      .flat()
      .filter((word) => typeof word === "string"),
    options: merged,
    version: options.version,
  };
}

/** A group is acted on itself only when no command of it was named: what is left over is a mistake. */
function refuseLeftWords(group: Command): void {
  const left = group.args[0];
  if (left === undefined) return;
  if (left.startsWith("-")) throw usageError(`There is no option "${inline(left)}". See: ${helpOf(group)}`);
  throw noCommand(group, left);
}

function noCommand(group: Command, left: string): CliError {
  const names = group.commands.map((command) => command.name()).filter((name) => name !== "help");
  const of = group.parent ? ` of "${group.name()}"` : "";
  const near = nearestKey(left, names);
  const hint = near === null ? "" : `. Did you mean ${near}?`;
  return usageError(
    `There is no command "${inline(left)}"${of}; there are: ${names.join(", ")}${hint || "."} See: ${helpOf(group)}`,
  );
}

function addHome(command: Command): void {
  command.option(
    "--home <dir>",
    "the folder that holds everything (default: $SALLYPORT_HOME, else ~/.sallyport)",
  );
}

function homeOf(flag: unknown, io: Io): string {
  try {
    return resolveHome(typeof flag === "string" ? flag : undefined, io.env);
  } catch (error) {
    if (error instanceof RangeError) throw usageError(error.message);
    throw error;
  }
}

/** Whoever read our output has seen enough, as in `sallyport jobs | head`: nothing to report. */
function isReaderGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

/** Commander's own text ("error: unknown option '--x'"), with the next step. */
function usageOf(error: CommanderError, program: Command, argv: readonly string[]): CliError {
  const text = inline(error.message.replace(/^error: /, "").replace(/\.$/, ""));
  if (error.code === "commander.help") return usageError("Name a command; they are listed above.");
  return usageError(
    `${text.charAt(0).toUpperCase()}${text.slice(1)}. See: ${helpOf(namedCommand(program, argv))}`,
  );
}

/** The command that a line means whose options do not parse: words that follow each other down the tree. */
function namedCommand(program: Command, argv: readonly string[]): Command {
  let at = program;
  for (const word of argv) {
    if (word === "--") break;
    const child = at.commands.find((command) => command.name() === word);
    if (child) at = child;
    else if (at !== program) break;
  }
  return at;
}

function firstSentence(text: string): string {
  return text.split(/(?<=[.:]) /)[0]?.replace(/:$/, ".") ?? text;
}

function helpOf(command: Command): string {
  return `${pathOf(command).join(" ")} --help`;
}

/** `["sallyport", "jobs", "kill"]` */
function pathOf(command: Command): readonly string[] {
  const path: string[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) path.unshift(at.name());
  return path;
}

/** Asked of the raw words, because a line that does not parse has no options. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).includes("--json");
}

import { SallyportError } from "../../../errors.ts";
import { newId } from "../../../lib/ids.ts";
import { resolveFolder } from "../../files/resolve-folder.ts";
import type { CallResult, Jobs } from "../../jobs/jobs.ts";
import { checkCommandLine } from "../shell.ts";
import { acpLimits } from "./acp-limits.ts";
import { RefuseAgent } from "./connection.ts";
import { countOf, listOf, objectOf } from "./raw-values.ts";
import { commandOf, quoteWord, type ToolCall } from "./tool-call.ts";
import type { TurnDesk } from "./turn-desk.ts";

interface Terminal {
  readonly id: string;
  readonly call: ToolCall;
  readonly maxBytes: number;
  readonly controller: AbortController;
  output: string;
  truncated: boolean;
  result: CallResult | null;
  readonly ended: Promise<void>;
}

/** The terminals of one agent: commands run by the machinery of jobs, each a call that is judged, shown and ended with the turn. */
export interface Terminals {
  create(
    rawParams: unknown,
    desks: readonly [TurnDesk, ...TurnDesk[]],
    signal: AbortSignal,
  ): Promise<{ terminalId: string }>;
  output(rawParams: unknown): unknown;
  waitForExit(rawParams: unknown, signal: AbortSignal): Promise<unknown>;
  kill(rawParams: unknown): Promise<Record<string, never>>;
  release(rawParams: unknown): Promise<Record<string, never>>;
  /** The terminal's call, for an agent that shows it in a call of its own. */
  callOf(rawId: unknown): ToolCall | null;
  /** Ends the commands that still run. Resolves when they are gone and said so. */
  endAll(): Promise<void>;
}

export interface TerminalsOptions {
  readonly jobs: Jobs;
  readonly homeFolder: string;
  readonly userHome: string;
}

export function createTerminals(options: TerminalsOptions): Terminals {
  const terminals = new Map<string, Terminal>();
  let starting = 0;

  const running = (): readonly Terminal[] =>
    [...terminals.values()].filter((terminal) => terminal.result === null);

  function need(rawParams: unknown): Terminal {
    const { terminalId } = objectOf(rawParams);
    const terminal = typeof terminalId === "string" ? terminals.get(terminalId) : undefined;
    if (!terminal) throw new RefuseAgent(-32602, "There is no such terminal.");
    return terminal;
  }

  /** Ended ones that their agent never released make room. */
  function forgetOldest(): void {
    for (const [id, terminal] of terminals) {
      if (terminals.size + starting < acpLimits.terminals) return;
      if (terminal.result !== null) terminals.delete(id);
    }
  }

  async function create(
    rawParams: unknown,
    desks: readonly [TurnDesk, ...TurnDesk[]],
    signal: AbortSignal,
  ): Promise<{ terminalId: string }> {
    forgetOldest();
    if (
      terminals.size + starting >= acpLimits.terminals ||
      running().length + starting >= acpLimits.runningTerminals
    )
      throw new RefuseAgent(-32603, "There are too many terminals. Release those that are not needed.");
    starting += 1;
    try {
      return await begin(rawParams, desks, signal);
    } finally {
      starting -= 1;
    }
  }

  async function begin(
    rawParams: unknown,
    desks: readonly [TurnDesk, ...TurnDesk[]],
    signal: AbortSignal,
  ): Promise<{ terminalId: string }> {
    const params = objectOf(rawParams);
    const line = await commandLine(params, desks[0].cwd, options).catch(throwRefusal);
    const isMeant = (each: TurnDesk): ToolCall | null =>
      each.calls.findOpen((open) => !open.hasTerminal && commandOf(open) === line.shown);
    const desk = desks.find(isMeant) ?? desks[0];
    const call = isMeant(desk) ?? desk.calls.create("execute", line.shown, { command: line.text });
    call.hasTerminal = true;
    await desk.calls.begin(call);
    const permit = await desk.permit({
      callId: call.id,
      tool: "bash",
      subject: line.text,
      input: { command: line.text },
      signal,
    });
    if (!permit.allowed) {
      if (!desk.context.signal.aborted) await desk.calls.end(call, { output: permit.reason, isError: true });
      throw new RefuseAgent(-32603, permit.reason);
    }
    const terminal = start(line.text, call, desk, countOf(params.outputByteLimit));
    return { terminalId: terminal.id };
  }

  function start(line: string, call: ToolCall, desk: TurnDesk, maxBytes: number | null): Terminal {
    const controller = new AbortController();
    const ended = options.jobs
      .runCall({
        command: line,
        cwd: desk.cwd,
        signal: AbortSignal.any([controller.signal, desk.context.signal]),
        onOutput(raw) {
          const text = desk.redact(raw);
          keep(terminal, text);
          desk.calls.print(call, text);
        },
      })
      .catch(
        (error: unknown): CallResult => ({
          exitCode: null,
          output: "",
          cancelled: controller.signal.aborted,
          error: error instanceof SallyportError ? error.message : "The command could not be started.",
        }),
      )
      .then(async (result) => {
        terminal.result = result;
        call.exitCode = result.exitCode;
        const output = desk.redact(result.output);
        await desk.calls.end(call, {
          output: result.error === null ? output : joinLines(output, result.error),
          isError: result.error !== null || result.cancelled || result.exitCode !== 0,
        });
      })
      // The turn has ended meanwhile, or its transcript cannot be written: both are told by the turn itself.
      .catch(() => undefined);
    const terminal: Terminal = {
      id: newId(),
      call,
      maxBytes: Math.min(maxBytes ?? acpLimits.terminalOutputBytes, acpLimits.terminalOutputBytes),
      controller,
      output: "",
      truncated: false,
      result: null,
      ended,
    };
    terminals.set(terminal.id, terminal);
    return terminal;
  }

  async function kill(terminal: Terminal): Promise<void> {
    terminal.controller.abort();
    await terminal.ended;
  }

  return {
    create,
    output(rawParams) {
      const terminal = need(rawParams);
      return {
        output: terminal.output,
        truncated: terminal.truncated,
        ...(terminal.result === null ? {} : { exitStatus: exitStatus(terminal.result) }),
      };
    },
    async waitForExit(rawParams, signal) {
      const terminal = need(rawParams);
      const takenBack = new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      await Promise.race([terminal.ended, takenBack]);
      return terminal.result === null ? { exitCode: null } : exitStatus(terminal.result);
    },
    async kill(rawParams) {
      await kill(need(rawParams));
      return {};
    },
    async release(rawParams) {
      const terminal = need(rawParams);
      await kill(terminal);
      terminals.delete(terminal.id);
      return {};
    },
    callOf: (rawId) => (typeof rawId === "string" ? (terminals.get(rawId)?.call ?? null) : null),
    async endAll() {
      await Promise.all(running().map(kill));
    },
  };
}

/** The newest output within the bound, cut at a whole character. */
function keep(terminal: Terminal, text: string): void {
  const bytes = Buffer.from(terminal.output + text, "utf8");
  if (bytes.length <= terminal.maxBytes) {
    terminal.output += text;
    return;
  }
  let from = bytes.length - terminal.maxBytes;
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  terminal.output = bytes.toString("utf8", from);
  terminal.truncated = true;
}

function exitStatus(result: CallResult): { exitCode: number | null; signal: string | null } {
  if (result.cancelled) return { exitCode: null, signal: "SIGTERM" };
  return { exitCode: result.exitCode, signal: null };
}

interface CommandLine {
  /** What is judged, shown and run by `/bin/sh`. */
  readonly text: string;
  /** The command alone, as a call of the agent may name it. */
  readonly shown: string;
}

/**
 * One line for `/bin/sh` that does what the agent asks for. Without arguments the command is a line already; with them each
 * word is quoted. Variables and another folder become a part of the line, so that they are seen and judged as well.
 */
async function commandLine(
  params: Readonly<Record<string, unknown>>,
  cwd: string,
  options: TerminalsOptions,
): Promise<CommandLine> {
  const { command, args } = params;
  if (typeof command !== "string") throw new RefuseAgent(-32602, "command must be a text.");
  const words = listOf(args, 10_000);
  if (words.some((word) => typeof word !== "string")) throw new RefuseAgent(-32602, "args must be texts.");
  const shown =
    words.length === 0 ? command : [command, ...(words as readonly string[])].map(quoteWord).join(" ");
  const text = `${await folderPart(params.cwd, cwd, options)}${variablePart(params.env)}${shown}`;
  checkCommandLine(text, "command");
  return { text, shown };
}

async function folderPart(raw: unknown, cwd: string, options: TerminalsOptions): Promise<string> {
  if (raw === undefined || raw === null || raw === cwd) return "";
  if (typeof raw !== "string" || raw.startsWith("~"))
    throw new RefuseAgent(-32602, "cwd must be an absolute path.");
  const folder = await resolveFolder(raw, {
    homeFolder: options.homeFolder,
    userHome: options.userHome,
    browseRoot: null,
  });
  return folder === cwd ? "" : `cd -- ${quoteWord(folder)} && `;
}

function variablePart(raw: unknown): string {
  const parts = listOf(raw, 1_000).flatMap((each) => {
    const { name, value } = objectOf(each);
    if (typeof name !== "string" || typeof value !== "string" || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new RefuseAgent(-32602, "env must hold names and values.");
    return name.startsWith("SALLYPORT_") ? [] : [`${name}=${quoteWord(value)}`];
  });
  return parts.length === 0 ? "" : `export ${parts.join(" ")}; `;
}

function joinLines(output: string, error: string): string {
  return output === "" || output.endsWith("\n") ? output + error : `${output}\n${error}`;
}

function throwRefusal(error: unknown): never {
  if (error instanceof SallyportError) throw new RefuseAgent(-32602, error.message);
  throw error;
}

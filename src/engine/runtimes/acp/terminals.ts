import { SallyportError } from "../../../errors.ts";
import { newId } from "../../../lib/ids.ts";
import type { CallResult, Jobs } from "../../jobs/jobs.ts";
import { acpLimits } from "./acp-limits.ts";
import { RefuseAgent } from "./connection.ts";
import { countOf, objectOf } from "./raw-values.ts";
import { type CommandLine, commandLine } from "./terminal-command.ts";
import { commandOf, type ToolCall } from "./tool-call.ts";
import type { TurnDesk } from "./turn-desk.ts";

/** As much as a key may have. */
const tailChars = 8 * 1024;

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
    place: TerminalPlace,
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

export interface TerminalPlace {
  /** Of the agent, for the job that clients see. */
  readonly workspace: string;
  readonly tab: string;
  /** Takes the request back. */
  readonly signal: AbortSignal;
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
    place: TerminalPlace,
  ): Promise<{ terminalId: string }> {
    forgetOldest();
    if (
      terminals.size + starting >= acpLimits.terminals ||
      running().length + starting >= acpLimits.runningTerminals
    )
      throw new RefuseAgent(-32603, "There are too many terminals. Release those that are not needed.");
    starting += 1;
    try {
      return await begin(rawParams, desks, place);
    } finally {
      starting -= 1;
    }
  }

  async function begin(
    rawParams: unknown,
    desks: readonly [TurnDesk, ...TurnDesk[]],
    place: TerminalPlace,
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
      signal: place.signal,
    });
    if (!permit.allowed) {
      if (!desk.context.signal.aborted) await desk.calls.end(call, { output: permit.reason, isError: true });
      throw new RefuseAgent(-32603, permit.reason);
    }
    const shownIn = await stillOpen(call, line, desk);
    const terminal = start(line.text, shownIn, desk, { ...place, maxBytes: countOf(params.outputByteLimit) });
    return { terminalId: terminal.id };
  }

  /** The agent may have ended its call while a person looked at it: what runs now is shown all the same. */
  async function stillOpen(call: ToolCall, line: CommandLine, desk: TurnDesk): Promise<ToolCall> {
    if (call.state !== "ended") return call;
    const own = desk.calls.create("execute", line.shown, { command: line.text });
    own.hasTerminal = true;
    await desk.calls.begin(own);
    return own;
  }

  function start(
    line: string,
    call: ToolCall,
    desk: TurnDesk,
    { workspace, tab, maxBytes }: TerminalPlace & { readonly maxBytes: number | null },
  ): Terminal {
    const controller = new AbortController();
    let isSecret = false;
    let tail = "";
    const ended = options.jobs
      .runCall({
        command: line,
        cwd: desk.cwd,
        signal: AbortSignal.any([controller.signal, desk.context.signal]),
        listed: {
          workspace,
          tab,
          agent: desk.context.agent,
          command: desk.redact(line),
          isSecret: () => isSecret,
        },
        onOutput(raw) {
          const text = desk.redact(raw);
          // A key may come in two pieces.
          const whole = tail + raw;
          isSecret ||= desk.redact(whole) !== whole;
          tail = whole.slice(-tailChars);
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

function joinLines(output: string, error: string): string {
  return output === "" || output.endsWith("\n") ? output + error : `${output}\n${error}`;
}

function throwRefusal(error: unknown): never {
  if (error instanceof SallyportError) throw new RefuseAgent(-32602, error.message);
  throw error;
}

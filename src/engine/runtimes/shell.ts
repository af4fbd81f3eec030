import { SallyportError } from "../../errors.ts";
import { newId } from "../../lib/ids.ts";
import { engineLimits } from "../engine-limits.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { makeValueVisible, makeVisible } from "../visible-text.ts";
import type { Runtime, TurnContext, TurnOutcome } from "./runtime.ts";

const tool = "bash";
/** POSIX, 2.8.2: what a shell answers to a command that it does not find, such as a sentence meant for an agent. */
const noSuchCommand = 127;

export interface ShellOptions {
  readonly jobs: Jobs;
  readonly now: () => number;
  /** The line without its trailing `&`, or null where it has none. */
  readonly splitTrailingBackground: (line: string) => string | null;
  /** How to get a coding agent, in a sentence; null where there is one. */
  readonly addAgent: () => string | null;
}

interface CallEnd {
  readonly output: string;
  readonly isError: boolean;
  readonly exitCode?: number | null;
  readonly job?: string;
}

/**
 * The embedded default: no model, no account. A prompt is one command line, run by `/bin/sh` in the tab's folder as a
 * call of the tool `bash`; a trailing `&` makes it a job.
 */
export function createShellRuntime(options: ShellOptions): Runtime {
  async function runCall(context: TurnContext, callId: string): Promise<CallEnd> {
    const permit = await context.permit({
      callId,
      tool,
      subject: context.text,
      input: { command: context.text },
    });
    if (!permit.allowed) return { output: permit.reason, isError: true };
    const background = options.splitTrailingBackground(context.text);
    if (background !== null) return startJob(context, background);
    const result = await options.jobs.runCall({
      command: context.text,
      cwd: context.cwd,
      signal: context.signal,
      onOutput: (text) => context.delta({ type: "tool_output", call_id: callId, text }),
    });
    return {
      output: result.error === null ? result.output : joinLines(result.output, result.error),
      isError: result.error !== null || result.cancelled || result.exitCode !== 0,
      exitCode: result.exitCode,
    };
  }

  async function startJob(context: TurnContext, command: string): Promise<CallEnd> {
    const job = await options.jobs.start(
      {
        command,
        cwd: context.cwd,
        workspace: context.workspace,
        tab: context.tab,
        agent: context.agent,
      },
      () => context.signal.throwIfAborted(),
    );
    const failed = job.state === "failed";
    return {
      output: failed
        ? `Job ${job.id} could not start: ${job.reason ?? "no reason is known"}`
        : `Started as job ${job.id}.`,
      isError: failed,
      job: job.id,
    };
  }

  return {
    name: "shell",
    needsTrust: false,
    takesModel: false,
    promptIsCommandLine: true,
    about: () => ({
      title: "Shell",
      kind: "shell",
      source: "built_in",
      state: "ready",
      message: "Runs each prompt as a command line; no model, no account.",
      next: options.addAgent(),
      version: null,
    }),
    tools: [
      {
        name: tool,
        kind: "execute",
        description: "Runs the prompt as one command line by /bin/sh in the tab's folder.",
      },
    ],
    checkPrompt(prompt) {
      if (prompt.images > 0 || prompt.attachments > 0)
        throw new SallyportError(
          "not_supported",
          "This tab runs command lines; it takes no images or attachments. Send the text alone.",
          { field: prompt.images > 0 ? "images" : "attachments" },
        );
      checkCommandLine(prompt.text, "text");
    },
    async runTurn(context): Promise<TurnOutcome> {
      const callId = newId();
      const startedMs = options.now();
      await context.record({
        type: "tool_started",
        call_id: callId,
        tool,
        summary: makeVisible(context.text, { keepLayout: false }),
        input: makeValueVisible({ command: context.text }),
      });
      const end = await runCall(context, callId).catch((error: unknown): CallEnd => {
        if (context.signal.aborted) return { output: "Cancelled before it ran.", isError: true };
        if (error instanceof SallyportError) return { output: error.message, isError: true };
        throw error;
      });
      await context.record({
        type: "tool_finished",
        call_id: callId,
        tool,
        output: end.output,
        is_error: end.isError,
        millis: Math.max(0, Math.round(options.now() - startedMs)),
        ...(end.exitCode === undefined ? {} : { exit_code: end.exitCode }),
        ...(end.job === undefined ? {} : { job: end.job }),
      });
      if (end.exitCode === noSuchCommand)
        await context.record({
          type: "notice",
          message: options.addAgent() ?? "This is a shell. For a coding agent start one in this tab.",
        });
      return { outcome: "done" };
    },
  };
}

/** Refuses what cannot be a command line for `/bin/sh -c`. Throws `invalid_field`, `too_large`. */
export function checkCommandLine(line: string, field: string): void {
  if (line.trim() === "") throw new SallyportError("invalid_field", "There is no command in it.", { field });
  if (line.includes("\0"))
    throw new SallyportError("invalid_field", "A command line cannot contain a NUL character.", { field });
  if (/\p{Surrogate}/u.test(line))
    throw new SallyportError("invalid_field", "The text is not well-formed Unicode.", { field });
  if (Buffer.byteLength(line) > engineLimits.commandBytes)
    throw new SallyportError(
      "too_large",
      `A command line may have at most ${engineLimits.commandBytes} bytes; put it into a script file.`,
      { field },
    );
}

function joinLines(output: string, error: string): string {
  return output === "" || output.endsWith("\n") ? output + error : `${output}\n${error}`;
}

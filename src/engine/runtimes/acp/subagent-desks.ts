import { SallyportError } from "../../../errors.ts";
import type { AgentContext, SubagentContext } from "../runtime.ts";
import { acpLimits } from "./acp-limits.ts";
import { objectOf, type RawObject, textOf } from "./raw-values.ts";
import type { ToolCall } from "./tool-call.ts";
import type { TurnDesk } from "./turn-desk.ts";

/** Subagents of an ACP agent: the protocol has none yet, but agents mark what a subagent does by the call that started it. */
export interface SubagentDesks {
  /** The desk of whoever made this call or said this: by its mark, by a call that is known, else the agent itself. */
  deskOf(update: RawObject): Promise<TurnDesk>;
  /** Ends the subagent that a call started, with the call. */
  endOf(call: ToolCall, isError: boolean): Promise<void>;
  endAll(): Promise<void>;
  all(): readonly TurnDesk[];
}

interface Subagent {
  readonly desk: TurnDesk;
  readonly context: SubagentContext;
  /** The call that started it. */
  readonly by: ToolCall;
}

export interface SubagentDesksOptions {
  readonly main: TurnDesk;
  readonly deskFor: (context: AgentContext) => TurnDesk;
}

export function createSubagentDesks({ main, deskFor }: SubagentDesksOptions): SubagentDesks {
  const running = new Map<string, Subagent>();
  /** Calls whose subagent could not be started or has ended: what is said of it is the agent's own. */
  const without = new Set<string>();

  async function start(parent: string, meta: RawObject): Promise<TurnDesk> {
    const by = main.calls.known(parent);
    if (!by) return main;
    await main.calls.begin(by);
    const { prompt, description, task } = by.input;
    try {
      const context = await main.context.startSubagent({
        label:
          textOf(meta.subagentType ?? by.input.subagent_type, 100) ??
          textOf(description, 100) ??
          (by.title || "subagent"),
        text: textOf(prompt ?? task ?? description, acpLimits.inputChars) ?? by.title,
        model: null,
        callId: by.id,
      });
      const desk = deskFor(context);
      running.set(parent, { desk, context, by });
      return desk;
    } catch (error) {
      if (!(error instanceof SallyportError) || error.code !== "overloaded") throw error;
      without.add(parent);
      return main;
    }
  }

  async function end(parent: string, subagent: Subagent, isError: boolean): Promise<void> {
    running.delete(parent);
    without.add(parent);
    await subagent.desk.speech.finish();
    await subagent.context.finish(
      isError ? { outcome: "failed", error: "The agent says that it failed." } : { outcome: "done" },
    );
  }

  return {
    async deskOf(update) {
      const meta = objectOf(update._meta);
      const parent = textOf(meta.parentToolCallId ?? objectOf(meta.claudeCode).parentToolUseId, 500);
      if (parent !== null && !without.has(parent))
        return running.get(parent)?.desk ?? (await start(parent, meta));
      const id = textOf(update.toolCallId, 500);
      const owner = id === null ? undefined : [...running.values()].find(({ desk }) => desk.calls.known(id));
      return owner?.desk ?? main;
    },
    async endOf(call, isError) {
      for (const [parent, subagent] of running)
        if (subagent.by === call) await end(parent, subagent, isError);
    },
    async endAll() {
      for (const [parent, subagent] of running) await end(parent, subagent, false);
    },
    all: () => [...running.values()].map(({ desk }) => desk),
  };
}

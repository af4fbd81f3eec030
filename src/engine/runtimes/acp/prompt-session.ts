import type { TurnContext, TurnOutcome } from "../runtime.ts";
import { acpLimits } from "./acp-limits.ts";
import { AgentRefusal } from "./connection.ts";
import type { OpenSession } from "./open-session.ts";
import { problem, sessionUnknown } from "./problem-text.ts";
import { promptBlocks } from "./prompt-blocks.ts";
import { objectOf, textOf } from "./raw-values.ts";
import type { Terminals } from "./terminals.ts";
import { type AcpTurn, createAcpTurn } from "./turn.ts";
import { createUsageCount } from "./usage-count.ts";

export interface PromptOptions {
  readonly cwd: string;
  readonly terminals: Terminals;
  readonly now: () => number;
  readonly takeNote: () => string | null;
  /** The turn begins (null: has ended); `fail` ends it with what went wrong outside of it. */
  readonly setTurn: (turn: AcpTurn | null, fail: (error: unknown) => void) => void;
  /** Ends the agent's process: it did not do what it was told. */
  readonly endAgent: (why: string) => void;
}

/**
 * Sends a prompt and waits for the end of the turn. An agent that ignores `session/cancel` for three seconds is ended.
 * `forgotten`: the agent does not know its session, and nothing has happened yet. Throws what `request` throws.
 */
export async function promptSession(
  current: OpenSession,
  context: TurnContext,
  options: PromptOptions,
): Promise<TurnOutcome | "forgotten"> {
  const { connection, greeting, inbox, spec, redact } = current.running;
  const { terminals } = options;
  const forced = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let failure: unknown = null;

  function cancel(): void {
    if (timer !== undefined) return;
    connection.notify("session/cancel", { sessionId: current.session });
    timer = setTimeout(() => forced.abort(), acpLimits.cancelMs);
  }
  function fail(error: unknown): void {
    if (context.signal.aborted) return;
    failure ??= error;
    cancel();
  }

  const usage = createUsageCount(current.cost, (cost) => {
    current.cost = cost;
  });
  const turn = createAcpTurn({
    context,
    cwd: options.cwd,
    terminals,
    usage,
    now: options.now,
    monotonicNow: () => performance.now(),
    redact,
    takeNote: options.takeNote,
    onTooMuch() {
      failure ??= problem(
        `${spec.title} said more than one turn may hold (${acpLimits.turnChars / (1024 * 1024)} MiB); it was ended.`,
      );
      forced.abort();
    },
  });
  options.setTurn(turn, fail);
  context.signal.addEventListener("abort", cancel, { once: true });
  if (context.signal.aborted) cancel();
  try {
    const before = current.preamble === null ? [] : [{ type: "text", text: current.preamble }];
    const blocks = promptBlocks(context.parts, {
      image: greeting.takesImages,
      embeddedContext: greeting.embeddedContext,
    });
    const answer = await connection.request(
      "session/prompt",
      { sessionId: current.session, prompt: [...before, ...blocks] },
      { timeoutMs: null, signal: forced.signal },
    );
    current.preamble = null;
    await inbox.settled();
    usage.takeAnswer(answer);
    await terminals.endAll();
    await turn.finish();
    if (failure !== null) throw failure;
    const stopReason = textOf(objectOf(answer).stopReason, 100);
    // A denial is no failure of the turn.
    if (stopReason === "cancelled" && turn.wasRefused) return { outcome: "done" };
    return outcomeOf(stopReason, spec.title);
  } catch (error) {
    if (forced.signal.aborted) options.endAgent("it did not end when it was told to");
    if (context.signal.aborted) return { outcome: "done" };
    if (failure !== null) throw failure;
    if (error instanceof AgentRefusal && error.code === sessionUnknown && !turn.began) return "forgotten";
    await inbox.settled();
    await turn.finish();
    throw error;
  } finally {
    clearTimeout(timer);
    context.signal.removeEventListener("abort", cancel);
    await terminals.endAll();
    options.setTurn(null, () => undefined);
  }
}

function outcomeOf(stopReason: string | null, title: string): TurnOutcome {
  switch (stopReason) {
    case "end_turn":
      return { outcome: "done" };
    case "max_tokens":
      return { outcome: "failed", error: `${title} stopped: its model reached the limit of tokens.` };
    case "max_turn_requests":
      return { outcome: "failed", error: `${title} stopped: it reached its limit of requests in one turn.` };
    case "refusal":
      return { outcome: "failed", error: `${title} refused to go on.` };
    case "cancelled":
      return { outcome: "failed", error: `${title} cancelled the turn by itself.` };
    default:
      return { outcome: "failed", error: `${title} ended the turn without a known reason.` };
  }
}

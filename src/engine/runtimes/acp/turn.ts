import type { AgentContext } from "../runtime.ts";
import { acpLimits } from "./acp-limits.ts";
import { cutText, listOf, objectOf, type RawObject, textOf } from "./raw-values.ts";
import { createSpeech } from "./speech.ts";
import type { Terminals } from "./terminals.ts";
import { contentText, createToolCalls, type ToolCall } from "./tool-calls.ts";
import { createTurnDesk, type TurnDesk } from "./turn-desk.ts";
import type { UsageCount } from "./usage-count.ts";

/** One turn of an agent: turns what it tells into events. */
export interface AcpTurn {
  readonly desk: TurnDesk;
  /** Takes one `session/update` in. Throws when the transcript cannot be written, or the turn says too much. */
  update(rawUpdate: unknown): Promise<void>;
  /** Records what was said last. */
  finish(): Promise<void>;
  /** True once the agent has told or asked anything in this turn. */
  readonly began: boolean;
}

export interface AcpTurnOptions {
  readonly context: AgentContext;
  readonly cwd: string;
  readonly terminals: Terminals;
  readonly usage: UsageCount;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly redact: (text: string) => string;
  readonly takeNote: () => string | null;
  /** Called when the turn says more than a turn may. */
  readonly onTooMuch: () => void;
}

export function createAcpTurn(options: AcpTurnOptions): AcpTurn {
  const { context, redact, terminals, usage } = options;
  let spentChars = 0;
  let began = false;
  const speech = createSpeech(options);
  const calls = createToolCalls({ ...options, beforeRecord: speech.finish, spend });
  const desk = createTurnDesk({
    context,
    cwd: options.cwd,
    calls,
    speech,
    redact,
    takeNote: options.takeNote,
  });

  function spend(chars: number): void {
    spentChars += chars;
    if (spentChars > acpLimits.turnChars) options.onTooMuch();
  }

  async function say(kind: "text_delta" | "thinking_delta", update: RawObject): Promise<void> {
    usage.takeMeta(update._meta);
    const text = contentText(update.content);
    spend(text.length);
    await speech.say(kind, text, textOf(update.messageId, 500));
  }

  async function toolCall(update: RawObject): Promise<void> {
    const call = calls.take(update);
    if (!call || call.state === "ended") return;
    showTerminal(call, update.content);
    const { status } = update;
    if (status === "in_progress") await calls.begin(call);
    if (status === "completed" || status === "failed")
      await calls.end(call, { output: outputOf(call), isError: status === "failed" });
  }

  /** A terminal that the agent shows in this call has a call of its own, unless it prints into this one. */
  function showTerminal(call: ToolCall, content: unknown): void {
    for (const each of listOf(content, 200)) {
      const { type, terminalId } = objectOf(each);
      const own = type === "terminal" ? terminals.callOf(terminalId) : null;
      if (own && own !== call && call.output === "") call.output = own.streamed;
    }
  }

  function outputOf(call: ToolCall): string {
    return call.hasTerminal ? call.streamed : call.output;
  }

  async function plan(update: RawObject): Promise<void> {
    const todos = listOf(update.entries, acpLimits.todos).flatMap((raw, index) => {
      const { content, status } = objectOf(raw);
      const text = textOf(content, acpLimits.titleChars);
      return text === null
        ? []
        : [{ id: String(index + 1), content: redact(text), status: textOf(status, 50) ?? "pending" }];
    });
    await context.record({ type: "todos", todos });
  }

  return {
    desk,
    get began() {
      return began;
    },
    async update(rawUpdate) {
      if (context.signal.aborted) return;
      const update = objectOf(rawUpdate);
      began = true;
      switch (update.sessionUpdate) {
        case "agent_message_chunk":
          await say("text_delta", update);
          break;
        case "agent_thought_chunk":
          await say("thinking_delta", update);
          break;
        case "tool_call":
        case "tool_call_update":
          await toolCall(update);
          break;
        case "plan":
          await plan(update);
          break;
        case "usage_update":
          usage.takeUpdate(update);
          break;
        case "session_info_update": {
          const title = textOf(update.title, acpLimits.titleChars);
          if (title !== null && title.trim() !== "")
            await context.record({ type: "title", title: redact(title) });
          break;
        }
        case "notice": {
          const words = [update.title, update.description].flatMap((each) => textOf(each, 4_000) ?? []);
          await context.record({ type: "notice", message: redact(cutText(words.join(": "), 4_000)) });
          break;
        }
        default:
      }
    },
    async finish() {
      await speech.finish();
      const event = usage.event();
      if (event !== null && !context.signal.aborted) await context.record(event);
    },
  };
}

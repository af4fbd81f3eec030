import type { AgentEventBody } from "../../../protocol/events.ts";
import type { AgentContext } from "../runtime.ts";
import { acpLimits } from "./acp-limits.ts";
import { contentText } from "./call-content.ts";
import { cutText, listOf, objectOf, type RawObject, textOf } from "./raw-values.ts";
import { createSpeech } from "./speech.ts";
import { createSubagentDesks } from "./subagent-desks.ts";
import type { Terminals } from "./terminals.ts";
import type { ToolCall } from "./tool-call.ts";
import { createToolCalls } from "./tool-calls.ts";
import { createTurnDesk, type TurnDesk } from "./turn-desk.ts";
import type { UsageCount } from "./usage-count.ts";

/** One turn of an agent: turns what it tells into events. */
export interface AcpTurn {
  /** Of the agent itself. */
  readonly desk: TurnDesk;
  /** Of the agent itself and of its subagents. */
  readonly desks: () => readonly TurnDesk[];
  /** Whose call it is: the agent's, or that of a subagent of it, which is started when it is first heard of. */
  deskOf(rawToolCall: unknown): Promise<TurnDesk>;
  /** Takes one `session/update` in. Throws when the transcript cannot be written. */
  update(rawUpdate: unknown): Promise<void>;
  /** Records what was said last. */
  finish(): Promise<void>;
  /** True once the agent has told or asked anything in this turn. */
  readonly began: boolean;
  /** True once something was denied: some agents end their turn then, and call that cancelled. */
  readonly wasRefused: boolean;
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

/** What a record costs beside its text, for the bound of a turn. */
const recordChars = 20_000;

export function createAcpTurn(options: AcpTurnOptions): AcpTurn {
  const { context, redact, terminals, usage } = options;
  let spentChars = 0;
  let began = false;
  let wasRefused = false;
  const allowed: TurnDesk["allowed"] = { changes: [], reads: new Set() };
  const desk = deskFor(context);
  const subagents = createSubagentDesks({ main: desk, deskFor });

  function deskFor(of: AgentContext): TurnDesk {
    const speech = createSpeech({ ...options, context: of });
    const calls = createToolCalls({ ...options, context: of, beforeRecord: speech.finish, spend });
    const onRefused = (): void => {
      wasRefused = true;
    };
    return createTurnDesk({ ...options, context: of, calls, speech, allowed, onRefused });
  }

  function spend(chars: number): void {
    spentChars += chars;
    if (spentChars > acpLimits.turnChars) options.onTooMuch();
  }

  async function say(kind: "text_delta" | "thinking_delta", update: RawObject): Promise<void> {
    usage.takeMeta(update._meta);
    const text = contentText(update.content);
    spend(text.length);
    const { speech } = await subagents.deskOf(update);
    await speech.say(kind, text, textOf(update.messageId, 500));
  }

  async function toolCall(update: RawObject): Promise<void> {
    const { calls } = await subagents.deskOf(update);
    const call = calls.take(update);
    if (!call || call.state === "ended") return;
    showTerminal(call, update.content);
    const { status } = update;
    if (status === "in_progress") await calls.begin(call);
    if (status !== "completed" && status !== "failed") return;
    await subagents.endOf(call, status === "failed");
    await calls.end(call, { output: outputOf(call), isError: status === "failed" });
  }

  /** A terminal that the agent shows in this call has a call of its own, unless it prints into this one. */
  function showTerminal(call: ToolCall, content: unknown): void {
    for (const each of listOf(content, 200)) {
      const { type, terminalId } = objectOf(each);
      const own = type === "terminal" ? terminals.callOf(terminalId) : null;
      if (own && own !== call) call.shows = own;
    }
  }

  let lastPlan = "";
  async function plan(update: RawObject): Promise<void> {
    const todos = listOf(update.entries, acpLimits.todos).flatMap((raw, index) => {
      const { content, status } = objectOf(raw);
      const text = textOf(content, acpLimits.titleChars);
      return text === null
        ? []
        : [{ id: String(index + 1), content: redact(text), status: textOf(status, 50) ?? "pending" }];
    });
    const text = JSON.stringify(todos);
    // Some agents tell the same plan with every step.
    if (text === lastPlan) return;
    lastPlan = text;
    await keep({ type: "todos", todos });
  }

  /** Records what is no part of a message or a call. Each costs something, however short it is. */
  async function keep(body: AgentEventBody): Promise<void> {
    spend(JSON.stringify(body).length + recordChars);
    await context.record(body);
  }

  return {
    desk,
    desks: () => [desk, ...subagents.all()],
    deskOf: (rawToolCall) => subagents.deskOf(objectOf(rawToolCall)),
    get began() {
      return began;
    },
    get wasRefused() {
      return wasRefused;
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
          if (title !== null && title.trim() !== "") await keep({ type: "title", title: redact(title) });
          break;
        }
        case "notice": {
          const words = [update.title, update.description].flatMap((each) => textOf(each, 4_000) ?? []);
          await keep({ type: "notice", message: redact(cutText(words.join(": "), 4_000)) });
          break;
        }
        default:
      }
    },
    async finish() {
      await subagents.endAll();
      await desk.speech.finish();
      const event = usage.event();
      if (event !== null && !context.signal.aborted) await context.record(event);
    },
  };
}

function outputOf(call: ToolCall): string {
  if (call.hasTerminal) return call.streamed;
  return call.output === "" ? (call.shows?.streamed ?? "") : call.output;
}

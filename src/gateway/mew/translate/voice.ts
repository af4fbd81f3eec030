import type { AgentEvent } from "../../../protocol/events.ts";
import type { MewServerMessage } from "../../../protocol/mew/server-messages.ts";
import type { MewFinish, MewPart, MewProviderEvent } from "../../../protocol/mew/values.ts";
import { derivedId, messageIdOf } from "./ids.ts";
import {
  addTokens,
  callPart,
  compactionPart,
  type EventOf,
  finishedState,
  noTokens,
  pendingState,
  runningState,
  type StartedCall,
  spokenPart,
  startedCall,
  unseenCall,
} from "./parts.ts";

type Kind = "text" | "reasoning";

interface OpenMessage {
  readonly id: string;
  readonly rawId: string;
  /** Its record was announced: nothing more is said in it, but a call may still join. */
  written: boolean;
  readonly said: Map<Kind, string>;
}

/**
 * What one agent says and does in a turn, as stream of provider events and tool messages. A message ends with
 * `message_end`: with `tool_use` as soon as something follows it in the turn, with `stop` at the turn's end, which has
 * one even if the turn said nothing. A call joins the message before it, else it is one of its own.
 */
export interface Voice {
  take(event: AgentEvent): readonly MewServerMessage[];
}

export function createVoice(agent: string): Voice {
  let open: OpenMessage | null = null;
  let tokens = noTokens;
  let cost = 0;
  let lastError: string | null = null;
  const calls = new Map<string, StartedCall>();
  let out: MewServerMessage[] = [];

  const provider = (event: MewProviderEvent): void => {
    out.push({ type: "provider", event });
  };

  function begin(rawId: string): OpenMessage {
    if (open) endMessage("tool_use");
    open = { id: messageIdOf(agent, rawId), rawId, written: false, said: new Map() };
    return open;
  }

  function say(kind: Kind, rawId: string, text: string): void {
    const message = open?.rawId === rawId && !open.written ? open : begin(rawId);
    const said = message.said.get(kind);
    if (said === undefined) provider({ type: "part_start", part: spokenPart(kind, agent, message, "") });
    message.said.set(kind, (said ?? "") + text);
    provider({ type: "part_delta", part_id: derivedIdOf(kind, message), field: "text", delta: text });
  }

  const derivedIdOf = (kind: Kind, message: OpenMessage): string => {
    const known = partIds.get(message)?.[kind];
    if (known !== undefined) return known;
    const id = derivedId(kind, agent, message.rawId);
    partIds.set(message, { ...partIds.get(message), [kind]: id });
    return id;
  };
  /** A delta costs no hash. */
  const partIds = new WeakMap<OpenMessage, Partial<Record<Kind, string>>>();

  /** Brings what was streamed to what was written down. */
  function settle(message: OpenMessage, kind: Kind, whole: string): void {
    const said = message.said.get(kind);
    if (said === whole || (said === undefined && whole === "")) return;
    if (said === undefined || whole.startsWith(said))
      say(kind, message.rawId, whole.slice((said ?? "").length));
    else out.push(updated(spokenPart(kind, agent, message, whole)));
  }

  function endParts(message: OpenMessage): void {
    for (const kind of message.said.keys())
      provider({ type: "part_end", part_id: derivedIdOf(kind, message) });
    message.said.clear();
  }

  function endMessage(finish: MewFinish): void {
    if (open) endParts(open);
    open = null;
    provider({ type: "message_end", finish, usage: tokens, cost });
    tokens = noTokens;
    cost = 0;
  }

  function write({ message }: EventOf<"assistant_message">): void {
    const current = open?.rawId === message.id && !open.written ? open : begin(message.id);
    settle(current, "reasoning", message.thinking ?? "");
    settle(current, "text", message.text);
    endParts(current);
    current.written = true;
  }

  function startCall(event: EventOf<"tool_started">): void {
    const joined = open?.written ? open : null;
    const call = startedCall(agent, event, joined?.id ?? null);
    calls.set(call.callId, call);
    provider({ type: "part_start", part: callPart(agent, call, pendingState(call)) });
    provider({ type: "part_end", part_id: call.partId });
    // A message that is still being said goes on beside its call.
    if (joined || !open) endMessage("tool_use");
    out.push(updated(callPart(agent, call, runningState(call, ""))));
    out.push({ type: "tool_start", call_id: call.callId });
  }

  function finishCall(event: EventOf<"tool_finished">): void {
    const call = calls.get(event.call_id) ?? unseenCall(agent, event);
    calls.delete(event.call_id);
    out.push(updated(callPart(agent, call, finishedState(call, event))));
    out.push({ type: "tool_end", call_id: event.call_id, success: !event.is_error });
  }

  function endTurn(event: EventOf<"turn_finished">): void {
    calls.clear();
    if (event.outcome === "done") {
      endMessage("stop");
      return;
    }
    if (open) endMessage("error");
    const message =
      event.outcome === "cancelled" ? "The turn was cancelled." : (event.error ?? "The turn failed.");
    if (message !== lastError) out.push({ type: "error_event", message });
  }

  function takeOne(event: AgentEvent): void {
    switch (event.type) {
      case "turn_started":
        open = null;
        tokens = noTokens;
        cost = 0;
        lastError = null;
        calls.clear();
        break;
      case "text_delta":
        if (event.text !== "") say("text", event.message, event.text);
        break;
      case "thinking_delta":
        if (event.text !== "") say("reasoning", event.message, event.text);
        break;
      case "assistant_message":
        write(event);
        break;
      case "tool_started":
        startCall(event);
        break;
      case "tool_output":
        if (event.text !== "") out.push({ type: "tool_progress", call_id: event.call_id, chunk: event.text });
        break;
      case "tool_finished":
        finishCall(event);
        break;
      case "usage":
        tokens = addTokens(tokens, event);
        cost += event.cost ?? 0;
        break;
      case "compacted": {
        if (open) endMessage("tool_use");
        const messageId = derivedId("message", agent, String(event.seq));
        const part = compactionPart(agent, event, messageId);
        provider({ type: "part_start", part });
        provider({ type: "part_end", part_id: part.id });
        break;
      }
      case "error":
        lastError = event.message;
        out.push({ type: "error_event", message: event.message });
        break;
      case "turn_finished":
        endTurn(event);
        break;
      default:
    }
  }

  return {
    take(event) {
      out = [];
      takeOne(event);
      return out;
    },
  };
}

function updated(part: MewPart): MewServerMessage {
  return { type: "part_updated", part_id: part.id, part };
}

import type { AgentEventBody } from "../../protocol/events.ts";
import type { SessionPage } from "../engine.ts";
import { engineLimits } from "../engine-limits.ts";

/** What an open turn has said so far and no record holds yet; for a client that comes in the middle of it. */
export interface Streaming {
  /** Takes an event in when it is announced. */
  take(body: AgentEventBody): void;
  /** Null when no turn is open. */
  view(): SessionPage["streaming"];
}

export function createStreaming(): Streaming {
  let open = false;
  let message: string | null = null;
  let text = "";
  let thinking = "";
  const tools = new Map<string, string>();

  function clear(): void {
    message = null;
    text = "";
    thinking = "";
    tools.clear();
  }

  return {
    take(body) {
      switch (body.type) {
        case "turn_started":
          open = true;
          clear();
          break;
        case "turn_finished":
          open = false;
          clear();
          break;
        case "text_delta":
        case "thinking_delta":
          if (message !== body.message) {
            message = body.message;
            text = "";
            thinking = "";
          }
          if (body.type === "text_delta") text = newest(text + body.text);
          else thinking = newest(thinking + body.text);
          break;
        case "assistant_message":
          message = null;
          text = "";
          thinking = "";
          break;
        case "tool_output":
          if (tools.has(body.call_id) || tools.size < engineLimits.streamingTools)
            tools.set(body.call_id, newest((tools.get(body.call_id) ?? "") + body.text));
          break;
        case "tool_finished":
          tools.delete(body.call_id);
          break;
        default:
      }
    },
    view() {
      if (!open) return null;
      return {
        message,
        text,
        thinking,
        tools: [...tools].map(([call_id, output]) => ({ call_id, output })),
      };
    },
  };
}

/** Keeps the newest text within the bound, never beginning in the middle of a surrogate pair. */
function newest(text: string): string {
  if (text.length <= engineLimits.streamingChars) return text;
  const cut = text.slice(-engineLimits.streamingChars);
  const first = cut.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? cut.slice(1) : cut;
}

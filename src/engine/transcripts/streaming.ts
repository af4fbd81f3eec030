import type { AgentEventBody } from "../../protocol/events.ts";
import type { SessionPage } from "../engine.ts";
import { engineLimits } from "../engine-limits.ts";

/** What an open turn has said so far and no record holds yet; for a client that comes in the middle of it. */
export interface Streaming {
  /** Takes an event in when it is announced. */
  take(body: AgentEventBody): void;
  /** Null when no turn is open. */
  view(): SessionPage["streaming"];
  /** The records that end what was begun: the message so far, and calls without an end, with `reason` as their output. */
  unfinished(reason: string): AgentEventBody[];
}

/** `now` is epoch milliseconds: an unfinished call says how long it took. */
export function createStreaming(options: { readonly now: () => number }): Streaming {
  let open = false;
  let message: string | null = null;
  let text = "";
  let thinking = "";
  const tools = new Map<string, string>();
  const calls = new Map<string, { readonly tool: string; readonly startedMs: number }>();

  function clear(): void {
    message = null;
    text = "";
    thinking = "";
    tools.clear();
    calls.clear();
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
        case "tool_started":
          if (calls.size < engineLimits.streamingTools)
            calls.set(body.call_id, { tool: body.tool, startedMs: options.now() });
          break;
        case "tool_finished":
          tools.delete(body.call_id);
          calls.delete(body.call_id);
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
    unfinished(reason) {
      const said: AgentEventBody[] =
        message === null || (text === "" && thinking === "")
          ? []
          : [
              {
                type: "assistant_message",
                message: { id: message, text, ...(thinking === "" ? {} : { thinking }) },
              },
            ];
      const ended = [...calls].map(([call_id, { tool, startedMs }]): AgentEventBody => {
        const output = tools.get(call_id) ?? "";
        return {
          type: "tool_finished",
          call_id,
          tool,
          output: output === "" || output.endsWith("\n") ? output + reason : `${output}\n${reason}`,
          is_error: true,
          millis: Math.max(0, Math.round(options.now() - startedMs)),
        };
      });
      return [...said, ...ended];
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

import { newId } from "../../lib/ids.ts";
import type { AgentContext } from "./runtime.ts";

/** The messages of one agent: pieces as they come, then the whole as a record. */
export interface Voice {
  /** With `wordMs` word by word, `wait` between them. */
  say(
    kind: "text_delta" | "thinking_delta",
    text: string,
    wordMs: number | undefined,
    wait: (ms: number) => Promise<void>,
  ): Promise<void>;
  /** Records the message so far, or `text` in its place; nothing where there is neither. */
  finish(text?: string): Promise<void>;
}

export function createVoice(context: AgentContext): Voice {
  let message: string | null = null;
  let said = "";
  let thought = "";

  return {
    async say(kind, text, wordMs, wait) {
      message ??= newId();
      const pieces = wordMs === undefined ? [text] : (text.match(/\s*\S+\s*$|\s*\S+/gu) ?? [text]);
      for (const [index, piece] of pieces.entries()) {
        if (index > 0) await wait(wordMs ?? 0);
        if (context.signal.aborted) return;
        if (kind === "text_delta") said += piece;
        else thought += piece;
        context.delta({ type: kind, message, text: piece });
      }
    },
    async finish(text = said) {
      if ((text === "" && thought === "") || context.signal.aborted) return;
      const id = message ?? newId();
      const thinking = thought;
      message = null;
      said = "";
      thought = "";
      await context.record({
        type: "assistant_message",
        message: { id, text, ...(thinking === "" ? {} : { thinking }) },
      });
    },
  };
}

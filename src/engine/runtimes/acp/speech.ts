import { newId } from "../../../lib/ids.ts";
import type { AgentContext } from "../runtime.ts";
import { acpLimits } from "./acp-limits.ts";

export type SpeechKind = "text_delta" | "thinking_delta";

/** What an agent says in one turn: pieces as they come, then each message whole as a record. */
export interface Speech {
  /** `message` is the agent's own id of the message, where it gives one: another id begins another message. */
  say(kind: SpeechKind, text: string, message: string | null): Promise<void>;
  /** Records the message so far. */
  finish(): Promise<void>;
}

/** Pieces that go out at once; who says more in a second is put together, so that a flood costs the clients little. */
const burst = 60;
const perSecond = 200;
const gatherMs = 40;

export interface SpeechOptions {
  readonly context: Pick<AgentContext, "record" | "delta" | "signal">;
  readonly redact: (text: string) => string;
  readonly monotonicNow: () => number;
}

export function createSpeech({ context, redact, monotonicNow }: SpeechOptions): Speech {
  let id: string | null = null;
  let theirs: string | null = null;
  const said = { text_delta: "", thinking_delta: "" };
  const held = { text_delta: "", thinking_delta: "" };
  let timer: NodeJS.Timeout | undefined;
  let pieces = burst;
  let countedMs = monotonicNow();

  function mayGo(): boolean {
    const nowMs = monotonicNow();
    pieces = Math.min(burst, pieces + ((nowMs - countedMs) / 1_000) * perSecond);
    countedMs = nowMs;
    if (pieces < 1) return false;
    pieces -= 1;
    return true;
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const kind of ["thinking_delta", "text_delta"] as const) {
      const text = held[kind];
      held[kind] = "";
      if (text !== "" && id !== null) context.delta({ type: kind, message: id, text });
    }
  }

  async function finish(): Promise<void> {
    flush();
    const message = id;
    const { text_delta: text, thinking_delta: thinking } = said;
    id = null;
    theirs = null;
    said.text_delta = "";
    said.thinking_delta = "";
    if (message === null || context.signal.aborted) return;
    await context.record({
      type: "assistant_message",
      message: { id: message, text, ...(thinking === "" ? {} : { thinking }) },
    });
  }

  return {
    finish,
    async say(kind, raw, message) {
      if (raw === "" || context.signal.aborted) return;
      const other = message !== null && theirs !== null && message !== theirs;
      // A thought behind the text belongs to the next message.
      const turned = kind === "thinking_delta" && said.text_delta !== "";
      const full = said.text_delta.length + said.thinking_delta.length > acpLimits.messageChars;
      if (other || turned || full) await finish();
      theirs = message ?? theirs;
      id ??= newId();
      const text = redact(raw.replace(/\p{Surrogate}/gu, "\ufffd"));
      said[kind] += text;
      held[kind] += text;
      if (timer === undefined && mayGo()) flush();
      else timer ??= setTimeout(flush, gatherMs);
    },
  };
}

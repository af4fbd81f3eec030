import type { Rest } from "../../client/rest.ts";
import { visibleText } from "../../lib/visible-text.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { inline } from "../text.ts";
import type { TurnText } from "../turn-text.ts";

/** A page of a transcript, and what the open turn has said so far (docs/protocol.md, "Sessions"). */
export interface TranscriptPage {
  readonly records: readonly AgentEvent[];
  readonly before: number | null;
  readonly seq: number;
  readonly streaming: {
    readonly text: string;
    readonly tools: readonly { readonly call_id: string; readonly output: string }[];
  } | null;
}

/** The newest `limit` records, or those before the place that a page named. Throws what the daemon refused. */
export function readTranscript(
  rest: Pick<Rest, "body">,
  agent: string,
  options: { readonly limit: number; readonly before?: number },
): Promise<TranscriptPage> {
  const before = options.before === undefined ? "" : `&before=${options.before}`;
  return rest.body("GET", `/api/sessions/${encodeURIComponent(agent)}?limit=${options.limit}${before}`);
}

/** Shows the newest part of a conversation and what runs in it. */
export async function showPage(
  page: TranscriptPage,
  text: TurnText,
  note: (line: string) => Promise<void>,
): Promise<void> {
  for (const record of page.records) {
    if (record.type === "user_message") await note(userText(record));
    else await text.show(record);
  }
  if (page.streaming === null) return;
  const at = { agent: null, seq: page.seq, at: "" };
  for (const { call_id, output } of page.streaming.tools)
    await text.show({ ...at, type: "tool_output", call_id, text: output });
  if (page.streaming.text !== "")
    await text.show({ ...at, type: "text_delta", message: "", text: page.streaming.text });
}

/** What a person asked: who, and the words. */
export function userText(event: Extract<AgentEvent, { type: "user_message" }>): string {
  return `\n[${inline(event.by.name)}] ${visibleText(event.text)}`;
}

import type { AgentEvent } from "../../src/protocol/events.ts";
import { callKey, type Draft, draftOf, type OpenMessage, type Transcript } from "./draft.ts";
import { foldRecord } from "./fold-record.ts";
import type { AssistantRow, Row } from "./rows.ts";

/** What the open turn has said so far and no record holds yet, as `GET /api/sessions/{id}` tells it. */
export interface StreamingSoFar {
  readonly message: string | null;
  readonly text: string;
  readonly thinking: string;
  readonly tools: readonly { readonly call_id: string; readonly output: string }[];
}

export const emptyTranscript: Transcript = {
  rows: [],
  places: new Map(),
  open: null,
  outputs: new Map(),
  turn: null,
  preparing: null,
  title: null,
  contextTokens: null,
  seq: 0,
};

/** The newest text of an open message or call that is kept; the daemon keeps as much for those who join. */
export const maxStreamingChars = 256 * 1024;

/**
 * The transcript after these events of its agent, oldest first. Pure; an event that is in it already (`seq` not above the
 * transcript's) changes nothing. Rows that did not change stay the same objects.
 */
export function withEvents(before: Transcript, events: readonly AgentEvent[]): Transcript {
  const draft = draftOf(before);
  for (const event of events) {
    if (event.seq <= draft.seq) continue;
    foldEvent(draft, event);
    draft.seq = event.seq;
  }
  return draft;
}

/** The transcript of a page of records and of what the open turn has said since. `seq` is the page's. */
export function transcriptOf(
  records: readonly AgentEvent[],
  streaming: StreamingSoFar | null,
  seq: number,
): Transcript {
  const draft = draftOf(withEvents(emptyTranscript, records));
  const at = records.at(-1)?.at ?? "";
  if (streaming !== null) {
    const { message, text, thinking, tools } = streaming;
    if (message !== null) draft.open = { id: message, text, thinking, at };
    for (const { call_id, output } of tools) draft.outputs.set(call_id, output);
  }
  draft.seq = Math.max(seq, draft.seq);
  return draft;
}

/** All that is shown: the rows, with the output of calls that go on, and the message that is being said. */
export function shownRows(transcript: Transcript): readonly Row[] {
  const { rows, open, outputs, places } = transcript;
  if (open === null && outputs.size === 0) return rows;
  const shown = [...rows];
  for (const [call, output] of outputs) {
    const index = places.get(callKey(call));
    const row = index === undefined ? undefined : shown[index];
    if (index !== undefined && row?.kind === "tool" && row.result === null)
      shown[index] = { ...row, outputSoFar: output };
  }
  if (open !== null) shown.push(openRow(open));
  return shown;
}

function openRow({ id, text, thinking, at }: OpenMessage): AssistantRow {
  return { kind: "assistant", key: `message ${id}`, at, text, thinking, isOpen: true };
}

function foldEvent(draft: Draft, event: AgentEvent): void {
  switch (event.type) {
    case "text_delta":
    case "thinking_delta": {
      const open =
        draft.open?.id === event.message
          ? draft.open
          : { id: event.message, text: "", thinking: "", at: event.at };
      draft.open =
        event.type === "text_delta"
          ? { ...open, text: newest(open.text + event.text) }
          : { ...open, thinking: newest(open.thinking + event.text) };
      draft.preparing = null;
      return;
    }
    case "tool_call_streaming":
      draft.preparing = event.tool;
      return;
    case "tool_output":
      draft.outputs.set(event.call_id, newest((draft.outputs.get(event.call_id) ?? "") + event.text));
      return;
    default:
      foldRecord(draft, event);
  }
}

/** Within the bound, and never beginning in the middle of a surrogate pair. */
function newest(text: string): string {
  if (text.length <= maxStreamingChars) return text;
  const cut = text.slice(-maxStreamingChars);
  const first = cut.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? cut.slice(1) : cut;
}

import type { AgentEvent } from "../../src/protocol/events.ts";
import type { Transcript } from "./draft.ts";
import { deltaTypes } from "./event-types.ts";
import { type StreamingSoFar, transcriptOf, withEvents } from "./transcript.ts";

/** What `GET /api/sessions/{id}` answers. */
export interface TranscriptPage {
  readonly records: readonly AgentEvent[];
  /** The `before` of the next older page; null at the beginning. */
  readonly before: number | null;
  readonly seq: number;
  readonly streaming: StreamingSoFar | null;
  readonly damaged_records: number;
}

/** The newest part of a session that is in memory: its records, and what they show. */
export interface TranscriptWindow {
  readonly records: readonly AgentEvent[];
  readonly transcript: Transcript;
  readonly before: number | null;
  /** Text that is held, roughly. */
  readonly chars: number;
  /** Records of the session that could not be read, as far as they were come by. */
  readonly damaged: number;
}

export interface WindowLimits {
  readonly records: number;
  readonly chars: number;
}

/** Beyond these the window is read anew from the session's end. */
export const windowLimits: WindowLimits = { records: 4_000, chars: 24 * 1024 * 1024 };

/** The window of the newest page. */
export function openWindow(page: TranscriptPage): TranscriptWindow {
  return {
    records: page.records,
    transcript: transcriptOf(page.records, page.streaming, page.seq),
    before: page.before,
    chars: charsOf(page.records),
    damaged: page.damaged_records,
  };
}

/** The window after live events of its agent, oldest first. Those that it has already change nothing. */
export function withLive(window: TranscriptWindow, events: readonly AgentEvent[]): TranscriptWindow {
  const { seq } = window.transcript;
  const records = events.filter((event) => event.seq > seq && !deltaTypes.has(event.type));
  return {
    ...window,
    records: records.length === 0 ? window.records : [...window.records, ...records],
    transcript: withEvents(window.transcript, events),
    chars: window.chars + charsOf(records),
  };
}

/** The window with the page before it. Rows of newer records keep their keys; a call whose begin was missing is whole now. */
export function withOlderPage(window: TranscriptWindow, page: TranscriptPage): TranscriptWindow {
  const first = window.records[0]?.seq ?? Number.POSITIVE_INFINITY;
  const older = page.records.filter(({ seq }) => seq < first);
  const records = [...older, ...window.records];
  const { open, outputs, preparing, seq } = window.transcript;
  return {
    records,
    transcript: { ...transcriptOf(records, null, seq), open, outputs, preparing },
    before: page.before,
    chars: window.chars + charsOf(older),
    damaged: window.damaged + page.damaged_records,
  };
}

/**
 * The window with what came since, by the newest page, when some of it may have been missed. Null when the page does not
 * reach back to what is there.
 */
export function withNewestPage(window: TranscriptWindow, page: TranscriptPage): TranscriptWindow | null {
  const last = window.records.at(-1)?.seq ?? 0;
  const newer = page.records.filter(({ seq }) => seq > last);
  if (newer.length === page.records.length && page.before !== null) return null;
  const records = [...window.records, ...newer];
  return {
    ...window,
    records,
    transcript: transcriptOf(records, page.streaming, page.seq),
    chars: window.chars + charsOf(newer),
  };
}

export function isTooLarge(window: TranscriptWindow, limits: WindowLimits = windowLimits): boolean {
  return window.records.length > limits.records || window.chars > limits.chars;
}

function charsOf(records: readonly AgentEvent[]): number {
  let chars = 0;
  for (const record of records) chars += sizeOf(record, 0);
  return chars;
}

function sizeOf(value: unknown, depth: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || depth > 8) return 8;
  let chars = 32;
  for (const inner of Object.values(value)) chars += sizeOf(inner, depth + 1);
  return chars;
}

import type { SessionPage } from "../../../engine/engine.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import type { MewMessage } from "../../../protocol/mew/values.ts";
import { type HistoryMessage, type HistoryOptions, historyOf } from "./history.ts";
import type { EventOf } from "./parts.ts";

/** Reads one page of a transcript: `engine.readSession` of the agent. */
export type ReadPage = (page: { readonly before?: number; readonly limit?: number }) => Promise<SessionPage>;

export interface HistoryPageOptions extends Pick<HistoryOptions, "agent" | "provider" | "model"> {
  readonly read: ReadPage;
  /** The `next_cursor` of an earlier page; absent: the newest messages. */
  readonly before?: number;
  /** `Infinity` for all that there is room for: then there is no cursor either. */
  readonly maxMessages: number;
  readonly maxBytes?: number;
}

export interface HistoryPage {
  /** Oldest first. */
  readonly messages: readonly MewMessage[];
  /** Where the page before this one ends; null at the beginning of the transcript, or of what was not cleared. */
  readonly nextCursor: number | null;
  /** Live events of the agent with a `seq` up to this are in the page already. */
  readonly seq: number;
  /** The last list of what is to do in what was read, unless the context was cleared after it; else null. */
  readonly todos: EventOf<"todos">["todos"] | null;
}

/** The newest messages of a session take at most this much of JSON text. */
const historyBytes = 8 * 1024 * 1024;
/** Most messages of one page, and how many where a client does not say. */
export const pageMessages = 24;

/** How many records are read at once for a page of messages, and for all that there is room for. */
const pageReads = { records: 200, maxReads: 64 };
const allReads = { records: 1_000, maxReads: 256 };
/** Less than any message, or part of one, takes as JSON text. */
const minSpokenBytes = 200;
/** The engine gives no more of them at once. */
const maxCountedRecords = 1_000;
/** Kinds of records that become a message, or a part of one. */
const spoken: ReadonlySet<AgentEvent["type"]> = new Set([
  "user_message",
  "assistant_message",
  "tool_started",
  "compacted",
]);

interface Chunk {
  /** Passed as `before` to get this chunk; undefined for the newest. */
  readonly before: number | undefined;
  readonly page: SessionPage;
}

/**
 * The messages before a cursor, at most so many and so large; at least one, however large, where there is one. A page
 * begins where no call is torn from its end, unless no such place is near. Memory: a multiple of `maxBytes`.
 */
export async function readHistoryPage(options: HistoryPageOptions): Promise<HistoryPage> {
  const { read, maxMessages, maxBytes = historyBytes } = options;
  const chunks: Chunk[] = [];
  const { records: limit, maxReads } = maxMessages === Infinity ? allReads : pageReads;
  // One more than wanted, so that the cut finds the place where the page begins.
  const enoughSpoken = Math.min(2 * maxMessages, maxBytes / minSpokenBytes);
  let spokenCount = 0;
  let bytes = 0;
  let cleared = false;
  for (let before = options.before; chunks.length < maxReads; ) {
    const page = await read({ ...(before === undefined ? {} : { before }), limit });
    chunks.unshift({ before, page });
    for (const record of page.records) {
      if (spoken.has(record.type)) spokenCount += 1;
      if (record.type === "cleared") cleared = true;
    }
    // Where the newest chunk ends is not told; it is small enough not to be counted.
    if (before !== undefined && page.before !== null) bytes += before - page.before;
    if (page.before === null || cleared || spokenCount > enoughSpoken || bytes > 2 * maxBytes) break;
    before = page.before;
  }
  const newest = chunks.at(-1)?.page;
  const records = chunks.flatMap(({ page }) => page.records);
  const all = historyOf(records, {
    agent: options.agent,
    provider: options.provider,
    model: options.model,
    streaming: options.before === undefined ? (newest?.streaming ?? null) : null,
    isNewest: options.before === undefined,
  });
  const from = cutHistory(all, { maxMessages, maxBytes });
  const first = all[from];
  const isWhole =
    maxMessages === Infinity || (from === 0 && (cleared || (chunks[0]?.page.before ?? null) === null));
  return {
    messages: all.slice(from).map(({ message }) => message),
    nextCursor: isWhole || !first ? null : await cursorAt(read, chunks, from === 0 ? 0 : first.firstRecord),
    seq: newest?.seq ?? 0,
    todos: lastTodos(records),
  };
}

function lastTodos(records: readonly AgentEvent[]): HistoryPage["todos"] {
  const last = records.findLast(({ type }) => type === "todos" || type === "cleared");
  return last?.type === "todos" ? last.todos : null;
}

/** The index of the first message that still fits, counted from the newest. */
function cutHistory(
  all: readonly HistoryMessage[],
  { maxMessages, maxBytes }: { readonly maxMessages: number; readonly maxBytes: number },
): number {
  let bytes = 0;
  let from = all.length;
  while (from > 0 && all.length - from < maxMessages) {
    // A character of JSON text is up to three bytes in UTF-8; the bound is one of bytes.
    bytes += Buffer.byteLength(JSON.stringify(all[from - 1]?.message)) + 1;
    if (bytes > maxBytes && from < all.length) break;
    from -= 1;
  }
  if (from === 0) return 0;
  const whole = all.findIndex((each, at) => at >= from && each.maySplit);
  return whole === -1 || whole - from > maxMessages / 2 ? from : whole;
}

/** The offset of a record, counted over all chunks. */
async function cursorAt(read: ReadPage, chunks: readonly Chunk[], record: number): Promise<number | null> {
  let at = record;
  for (const { before, page } of chunks) {
    if (at >= page.records.length) {
      at -= page.records.length;
      continue;
    }
    const seq = page.records[at]?.seq;
    if (at === 0 || seq === undefined) return page.before;
    return (await offsetOf(read, seq, before, page.records.length - at)) ?? page.before;
  }
  return chunks.at(-1)?.page.before ?? null;
}

/**
 * The offset of the record with a `seq`: that of a page which begins with it. The end of a growing transcript is first
 * pinned down by an offset, since what is appended meanwhile would move a count from the end.
 *
 * @param count how many records there were from it to `before`; more may have come
 */
async function offsetOf(
  read: ReadPage,
  seq: number,
  before: number | undefined,
  count: number,
): Promise<number | null> {
  let end = before;
  if (end === undefined) {
    const last = await read({ limit: 1 });
    if (last.before === null || last.records[0]?.seq === seq) return last.before;
    end = last.before;
  }
  for (const limit of [count, maxCountedRecords]) {
    const around = await read({ before: end, limit });
    const at = around.records.findIndex((record) => record.seq === seq);
    if (at === 0) return around.before;
    if (at === -1) continue;
    const exact = await read({ before: end, limit: around.records.length - at });
    if (exact.records[0]?.seq === seq) return exact.before;
  }
  return null;
}

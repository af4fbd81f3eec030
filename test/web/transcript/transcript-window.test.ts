import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../../src/protocol/events.ts";
import { deltaEventTypes } from "../../../src/protocol/events.ts";
import { deltaTypes } from "../../../web/transcript/event-types.ts";
import { emptyTranscript, shownRows, withEvents } from "../../../web/transcript/transcript.ts";
import {
  isTooLarge,
  openWindow,
  type TranscriptWindow,
  withLive,
  withNewestPage,
  withOlderPage,
} from "../../../web/transcript/transcript-window.ts";
import { conversation, eventsOf, pageAt } from "./script.ts";

const rowsOf = (window: TranscriptWindow) => shownRows(window.transcript);
const expected = (events: readonly AgentEvent[]) => shownRows(withEvents(emptyTranscript, events));
/** The time of a message that was joined in the middle is not known yet. */
const timeless = (rows: ReturnType<typeof shownRows>) =>
  rows.map((row) => (row.kind === "assistant" && row.isOpen ? { ...row, at: "" } : row));

function withAllOlder(
  window: TranscriptWindow,
  events: readonly AgentEvent[],
  limit: number,
): TranscriptWindow {
  let next = window;
  for (let round = 0; next.before !== null && round < 1_000; round += 1)
    next = withOlderPage(next, pageAt(events, next.transcript.seq, { before: next.before, limit }));
  return next;
}

describe("a window of a transcript", () => {
  it("knows the same deltas as the protocol", () => {
    expect([...deltaTypes].sort()).toEqual([...deltaEventTypes].sort());
  });

  it("shows the same rows however history, what was said so far, and live events are split", () => {
    const splits = fc.record({
      page: fc.nat({ max: 200 }),
      overlap: fc.nat({ max: 20 }),
      limit: fc.integer({ min: 1, max: 12 }),
      olderFirst: fc.boolean(),
    });
    fc.assert(
      fc.property(conversation, splits, (bodies, { page, overlap, limit, olderFirst }) => {
        const events = eventsOf(bodies, 10, 3);
        const cut = Math.min(page, events.length);
        const seq = cut === 0 ? 9 : (events[cut - 1]?.seq ?? 9);
        let window = openWindow(pageAt(events, seq, { limit }));
        // Live events begin before the page's seq: some come twice.
        const live = events.slice(Math.max(0, cut - overlap));
        if (olderFirst) window = withLive(withAllOlder(window, events, limit), live);
        else window = withAllOlder(withLive(window, live), events, limit);
        expect(timeless(rowsOf(window))).toEqual(timeless(expected(events)));
      }),
      { numRuns: 300 },
    );
  });

  it("joins what was missed to what is there, or says that the page does not reach back", () => {
    fc.assert(
      fc.property(
        conversation,
        fc.nat({ max: 100 }),
        fc.integer({ min: 1, max: 30 }),
        (bodies, cut, limit) => {
          const events = eventsOf(bodies);
          const early = openWindow(pageAt(events.slice(0, cut), cut, { limit: 1_000 }));
          const joined = withNewestPage(early, pageAt(events, events.length, { limit }));
          if (joined !== null) expect(timeless(rowsOf(joined))).toEqual(timeless(expected(events)));
          else expect(limit).toBeLessThan(events.length);
        },
      ),
    );
  });

  it("keeps the keys of its rows when older ones come", () => {
    fc.assert(
      fc.property(conversation, (bodies) => {
        const events = eventsOf(bodies);
        const window = openWindow(pageAt(events, events.length, { limit: 5 }));
        const after = new Set(rowsOf(withAllOlder(window, events, 5)).map(({ key }) => key));
        const lost = rowsOf(window).filter(({ key, kind }) => !after.has(key) && !isPart(kind));
        expect(lost).toEqual([]);
      }),
    );
  });

  it("tells when it holds too much", () => {
    const events = eventsOf(
      Array.from({ length: 50 }, () => ({ type: "notice" as const, message: "x".repeat(1_000) })),
    );
    const window = openWindow(pageAt(events, 50, { limit: 100 }));
    expect(isTooLarge(window, { records: 49, chars: 1e9 })).toBe(true);
    expect(isTooLarge(window, { records: 50, chars: 1e9 })).toBe(false);
    expect(isTooLarge(window, { records: 50, chars: 49_000 })).toBe(true);
  });
});

/** The begin of these may be in the older page: then they become part of its row. */
function isPart(kind: string): boolean {
  return kind === "tool" || kind === "permission" || kind === "todos";
}

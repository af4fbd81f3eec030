import { describe, expect, it } from "vitest";
import type { AgentEvent, AgentEventBody } from "../../../src/protocol/events.ts";
import { emptyTranscript, shownRows, withEvents } from "../../../web/transcript/transcript.ts";
import { createTranscriptSource } from "../../../web/transcript/transcript-source.ts";
import type { TranscriptPage } from "../../../web/transcript/transcript-window.ts";
import { eventsOf, pageAt } from "./script.ts";

const notices = (count: number): AgentEvent[] =>
  eventsOf(Array.from({ length: count }, (_, i): AgentEventBody => ({ type: "notice", message: `n${i}` })));

interface Ask {
  readonly before: number | null;
  answer(page: TranscriptPage): Promise<void>;
  fail(): Promise<void>;
}

/** A source whose pages the test answers, and whose frames it counts. */
function open(limits?: { records: number; chars: number }) {
  const asks: Ask[] = [];
  let frames: (() => void)[] = [];
  const clock = { nowMs: 1_000_000 };
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  const source = createTranscriptSource({
    fetchPage: (before) =>
      new Promise((resolve, reject) => {
        asks.push({
          before,
          answer(page) {
            resolve(page);
            return settled();
          },
          fail() {
            reject(new Error("no answer"));
            return settled();
          },
        });
      }),
    schedule: (work) => frames.push(work),
    now: () => clock.nowMs,
    ...(limits === undefined ? {} : { limits }),
  });
  const frame = () => {
    const now = frames;
    frames = [];
    for (const work of now) work();
    return now.length;
  };
  const messages = () =>
    source.view.value.rows.map((row) => (row.kind === "notice" ? row.message : row.kind));
  return { source, asks, frame, messages, clock };
}

describe("createTranscriptSource", () => {
  it("shows the newest page and then what comes, a frame at a time", async () => {
    const { source, asks, frame, messages } = open();
    const events = notices(1_000);
    await asks[0]?.answer(pageAt(events, 2, { limit: 10 }));
    expect(messages()).toEqual(["n0", "n1"]);
    for (const event of events) source.hear(event);
    expect(messages()).toHaveLength(2);
    expect(frame()).toBe(1);
    expect(source.view.value.rows).toEqual(shownRows(withEvents(emptyTranscript, events)));
  });

  it("loses nothing of what comes while the page is on its way", async () => {
    const { source, asks, frame, messages } = open();
    const events = notices(6);
    for (const event of events.slice(0, 3)) source.hear(event);
    await asks[0]?.answer(pageAt(events, 2, { limit: 10 }));
    for (const event of events.slice(3)) source.hear(event);
    frame();
    expect(messages()).toEqual(["n0", "n1", "n2", "n3", "n4", "n5"]);
  });

  it("loses nothing when the end is read anew while events come", async () => {
    const { source, asks, frame, messages } = open();
    const events = notices(6);
    await asks[0]?.answer(pageAt(events, 1, { limit: 10 }));
    source.reload();
    for (const event of events.slice(1, 5)) source.hear(event);
    frame();
    expect(messages()).toHaveLength(5);
    await asks[1]?.answer(pageAt(events, 2, { limit: 10 }));
    source.hear(events[5] as AgentEvent);
    frame();
    expect(messages()).toEqual(["n0", "n1", "n2", "n3", "n4", "n5"]);
  });

  it("loads older pages when asked to, one at a time", async () => {
    const { source, asks, messages, clock } = open();
    const events = notices(5);
    await asks[0]?.answer(pageAt(events, 5, { limit: 2 }));
    expect(source.view.value.hasOlder).toBe(true);
    source.loadOlder();
    source.loadOlder();
    expect(asks).toHaveLength(2);
    expect(source.view.value.isLoadingOlder).toBe(true);
    await asks[1]?.fail();
    expect(source.view.value).toMatchObject({ isLoadingOlder: false, hasOlder: true });
    source.loadOlder();
    expect(asks).toHaveLength(2);
    clock.nowMs += 10_000;
    source.loadOlder();
    await asks[2]?.answer(pageAt(events, 5, { before: 3, limit: 10 }));
    expect(messages()).toEqual(["n0", "n1", "n2", "n3", "n4"]);
    expect(source.view.value.hasOlder).toBe(false);
  });

  it("keeps memory flat: reads the end anew when there is too much, over a hundred thousand events", async () => {
    const { source, asks, frame, messages } = open({ records: 200, chars: 1e9 });
    const events = notices(100_000);
    await asks[0]?.answer(pageAt(events, 1, { limit: 50 }));
    let most = 0;
    let answered = 1;
    for (let at = 1; at < events.length; at += 20) {
      for (const event of events.slice(at, at + 20)) source.hear(event);
      frame();
      most = Math.max(most, source.view.value.rows.length);
      for (; answered < asks.length; answered += 1) {
        const records = events.slice(Math.max(0, at - 30), at + 20);
        await asks[answered]?.answer({
          records,
          before: 1,
          seq: at + 20,
          streaming: null,
          damaged_records: 0,
        });
      }
    }
    expect(most).toBeLessThan(300);
    expect(messages().at(-1)).toBe("n99999");
    expect(asks.length).toBeGreaterThan(100);
  });

  it("lets go of what comes while the reader is far up, and reads the end when they come back", async () => {
    const { source, asks, frame, messages } = open({ records: 10, chars: 1e9 });
    const events = notices(500);
    await asks[0]?.answer(pageAt(events, 5, { limit: 50 }));
    source.setAtEnd(false);
    for (const event of events.slice(5)) source.hear(event);
    frame();
    expect(source.view.value.isBehind).toBe(true);
    const kept = messages().length;
    source.hear({ ...(events[0] as AgentEvent), seq: 501 });
    frame();
    expect(messages()).toHaveLength(kept);
    expect(asks).toHaveLength(1);
    source.setAtEnd(true);
    // What comes while the end is being read is not let go any more.
    source.hear({ ...(events[0] as AgentEvent), seq: 502 });
    await asks[1]?.answer(pageAt(events, 500, { limit: 3 }));
    expect(messages()).toEqual(["n497", "n498", "n499", "n0"]);
    expect(source.view.value.isBehind).toBe(false);
  });

  it("leaves a reader who is far up where they are when more was missed than a page holds", async () => {
    const { source, asks, messages } = open();
    const events = notices(100);
    await asks[0]?.answer(pageAt(events, 5, { limit: 50 }));
    source.setAtEnd(false);
    source.reload();
    await asks[1]?.answer(pageAt(events, 100, { limit: 10 }));
    expect(messages()).toEqual(["n0", "n1", "n2", "n3", "n4"]);
    expect(source.view.value.isBehind).toBe(true);
  });

  it("says when the session cannot be read, and reads it when asked again", async () => {
    const { source, asks, messages } = open();
    await asks[0]?.fail();
    expect(source.view.value.phase).toBe("failed");
    source.reload();
    await asks[1]?.answer(pageAt(notices(1), 1, { limit: 10 }));
    expect(messages()).toEqual(["n0"]);
  });

  it("does nothing more when it is closed", async () => {
    const { source, asks, frame, messages } = open();
    source.close();
    await asks[0]?.answer(pageAt(notices(3), 3, { limit: 10 }));
    source.hear(notices(1)[0] as AgentEvent);
    frame();
    expect(messages()).toEqual([]);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionPage } from "../../../../src/engine/engine.ts";
import {
  type HistoryPage,
  type ReadPage,
  readHistoryPage,
} from "../../../../src/gateway/mew/translate/history-page.ts";
import type { AgentEvent, AgentEventBody } from "../../../../src/protocol/events.ts";
import { agent, asked, call, done, ended, envelopes, messageId, said, started } from "./events.ts";

/** A transcript in memory, read as the engine reads one: backwards from a byte offset. */
function transcript(records: AgentEvent[]) {
  const reads: { before?: number; limit?: number }[] = [];
  const ends = [0];
  const endOf = (count: number): number => {
    for (let at = ends.length; at <= count; at += 1)
      ends.push((ends.at(-1) ?? 0) + JSON.stringify(records[at - 1]).length + 1);
    return ends[count] ?? 0;
  };
  const read: ReadPage = async (page): Promise<SessionPage> => {
    reads.push(page);
    const { before = Number.MAX_SAFE_INTEGER, limit = 200 } = page;
    let to = records.length;
    while (to > 0 && endOf(to) > before) to -= 1;
    const from = Math.max(0, to - limit);
    return {
      records: records.slice(from, to),
      before: from === 0 ? null : endOf(from),
      seq: records.at(-1)?.seq ?? 0,
      streaming: null,
      damaged_records: 0,
    };
  };
  return { read, reads, records };
}

async function allPages(read: ReadPage, maxMessages: number, maxBytes?: number): Promise<HistoryPage[]> {
  const pages: HistoryPage[] = [];
  for (let before: number | null | undefined; before !== null; ) {
    const page: HistoryPage = await readHistoryPage({
      agent,
      provider: "acp",
      model: null,
      read,
      maxMessages,
      ...(before === undefined ? {} : { before }),
      ...(maxBytes === undefined ? {} : { maxBytes }),
    });
    pages.unshift(page);
    before = page.nextCursor;
    if (pages.length > 1_000) throw new Error("the pages have no end");
  }
  return pages;
}

const conversation = (turns: number): AgentEvent[] =>
  envelopes(
    Array.from({ length: turns }, (_, at): AgentEventBody[] => [
      { ...started, turn: messageId(1_000 + at) } as AgentEventBody,
      { ...asked, turn: messageId(1_000 + at), text: `prompt ${at}` } as AgentEventBody,
      said(messageId(2_000 + at), `answer ${at}`),
      call(messageId(3_000 + at)),
      ended(messageId(3_000 + at), "x".repeat(100)),
      done,
    ]).flat(),
  );
const texts = (pages: readonly HistoryPage[]): unknown[] => pages.flatMap(({ messages }) => messages);

describe("pages of history", () => {
  it("together are the whole history, each message once, whatever their size", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 90 }),
        fc.integer({ min: 1, max: 30 }),
        async (turns, size) => {
          const { read } = transcript(conversation(turns));
          const whole = await readHistoryPage({
            agent,
            provider: "acp",
            model: null,
            read,
            maxMessages: Number.MAX_SAFE_INTEGER,
          });
          const pages = await allPages(read, size);
          expect(whole.nextCursor).toBeNull();
          expect(texts(pages)).toEqual(whole.messages);
          for (const { messages } of pages) expect(messages.length).toBeLessThanOrEqual(size);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("never tear a call from its end", async () => {
    const { read } = transcript(conversation(30));
    for (const { messages } of await allPages(read, 7))
      for (const { parts } of messages)
        for (const part of parts) if (part.type === "tool_call") expect(part.state.status).toBe("completed");
  });

  it("are cut to the newest bytes, but hold one message at least", async () => {
    const { read } = transcript(conversation(50));
    const page = await readHistoryPage({
      agent,
      provider: "acp",
      model: null,
      read,
      maxMessages: 1_000,
      maxBytes: 4_000,
    });
    expect(JSON.stringify(page.messages).length).toBeLessThanOrEqual(4_002);
    expect(page.messages.length).toBeGreaterThan(2);
    expect(JSON.stringify(page.messages.at(-1))).toContain("answer 49");
    const tiny = await readHistoryPage({
      agent,
      provider: "acp",
      model: null,
      read,
      maxMessages: 24,
      maxBytes: 1,
    });
    expect(tiny.messages).toHaveLength(1);
    expect(texts(await allPages(read, 1_000, 4_000))).toEqual(texts(await allPages(read, 1_000)));
  });

  it("count bytes, not characters", async () => {
    const wide = envelopes([
      started,
      asked,
      said(messageId(1), "€".repeat(2_000)),
      said(messageId(2), "b"),
      done,
    ]);
    const { read } = transcript(wide);
    const page = await readHistoryPage({
      agent,
      provider: "",
      model: null,
      read,
      maxMessages: 9,
      maxBytes: 5_000,
    });
    expect(page.messages).toHaveLength(1);
  });

  it("survive that the transcript grows while they are read", async () => {
    const source = transcript(conversation(40));
    const more = envelopes([{ type: "notice", message: "grown" }], agent, 1_000);
    const read: ReadPage = async (page) => {
      const answer = await source.read(page);
      source.records.push(...more.map((event) => ({ ...event, seq: event.seq + source.reads.length })));
      return answer;
    };
    const newest = await readHistoryPage({ agent, provider: "acp", model: null, read, maxMessages: 10 });
    const rest = await readHistoryPage({
      agent,
      provider: "acp",
      model: null,
      read: source.read,
      maxMessages: 1_000,
      before: newest.nextCursor ?? 0,
    });
    expect(rest.messages.length + newest.messages.length).toBe(80);
  });

  it("end where the context was cleared", async () => {
    const bodies = [
      ...conversation(40),
      ...envelopes([{ type: "cleared" }, started, asked, done], agent, 500),
    ];
    const page = await readHistoryPage({
      agent,
      provider: "",
      model: null,
      read: transcript(bodies).read,
      maxMessages: 24,
    });
    expect(page.messages).toHaveLength(1);
    expect(page.nextCursor).toBeNull();
  });

  it("take a cursor that no page gave", async () => {
    const { read } = transcript(conversation(3));
    for (const before of [0, 1, 77, 10_000_000]) {
      const page = await readHistoryPage({ agent, provider: "", model: null, read, maxMessages: 24, before });
      expect(page.nextCursor).toBeNull();
    }
  });

  it("are as much as there is room for, where all is asked for, however small the messages are", async () => {
    const { read } = transcript(conversation(3_000));
    const page = await readHistoryPage({
      agent,
      provider: "acp",
      model: null,
      read,
      maxMessages: Number.POSITIVE_INFINITY,
    });
    expect(page.messages).toHaveLength(2 * 3_000);
    expect(page.messages[0]?.parts).toMatchObject([{ text: "prompt 0" }]);
    expect(page.nextCursor).toBeNull();
  });

  it("read a bounded number of records of a transcript without a message", async () => {
    const { read, reads } = transcript(
      envelopes(Array.from({ length: 20_000 }, (): AgentEventBody => ({ type: "notice", message: "n" }))),
    );
    const page = await readHistoryPage({ agent, provider: "", model: null, read, maxMessages: 24 });
    expect(page.messages).toEqual([]);
    expect(reads.length).toBeLessThanOrEqual(65);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createOutbox, type OutboxSink } from "../../../src/gateway/sockets/outbox.ts";

/** A socket that takes bytes only when told to. */
function slowSink() {
  const written: string[] = [];
  let pending: number[] = [];
  const sink: OutboxSink = {
    write(frame) {
      written.push(frame.toString());
      pending.push(frame.length);
    },
    get writableLength() {
      return pending.reduce((sum, length) => sum + length, 0);
    },
    writableHighWaterMark: 10,
  };
  return {
    sink,
    written,
    /** The kernel takes all; like a socket, this is followed by `drain`. */
    take() {
      pending = [];
    },
  };
}

const lagged = () => Buffer.from("LAGGED");
const bytes = (length: number, letter: string) => Buffer.from(letter.repeat(length));

describe("an outbox", () => {
  it("takes any one message when it is empty", () => {
    const { sink, written } = slowSink();
    const outbox = createOutbox({ sink, maxBytes: 20, lagged });
    outbox.sendChange(bytes(1_000, "a"));
    expect(written).toEqual(["a".repeat(1_000)]);
    expect(outbox.lagging).toBe(false);
    outbox.sendChange(bytes(1, "b"));
    expect(outbox.lagging).toBe(true);
  });

  it("drops every change from the first that does not fit until it has drained, then says lagged once", () => {
    const { sink, written, take } = slowSink();
    const outbox = createOutbox({ sink, maxBytes: 20, lagged });
    outbox.sendChange(bytes(15, "a"));
    outbox.sendChange(bytes(6, "b"));
    outbox.sendChange(bytes(1, "c"));
    expect(written).toEqual(["a".repeat(15)]);
    take();
    outbox.drained();
    outbox.drained();
    outbox.sendChange(bytes(1, "d"));
    expect(written).toEqual(["a".repeat(15), "LAGGED", "d"]);
  });

  it("says lagged at once when the change is too large beside next to nothing", () => {
    const { sink, written } = slowSink();
    const outbox = createOutbox({ sink, maxBytes: 20, lagged });
    outbox.sendChange(bytes(1, "a"));
    outbox.sendChange(bytes(50, "b"));
    expect(written).toEqual(["a", "LAGGED"]);
    expect(outbox.lagging).toBe(false);
  });

  it("never drops a reply, and tells when it is full", () => {
    const { sink, written, take } = slowSink();
    const outbox = createOutbox({ sink, maxBytes: 20, lagged });
    for (const letter of ["a", "b", "c"]) outbox.sendReply(bytes(15, letter));
    expect(outbox.full).toBe(true);
    expect(outbox.queuedBytes).toBe(45);
    for (let n = 0; n < 3; n += 1) {
      take();
      outbox.drained();
    }
    expect(written.map((frame) => frame[0])).toEqual(["a", "b", "c"]);
    expect(outbox.full).toBe(false);
  });

  it("keeps only the newest of a kind", () => {
    const { sink, written, take } = slowSink();
    const outbox = createOutbox({ sink, maxBytes: 20, lagged });
    outbox.sendReply(bytes(15, "a"));
    for (let n = 0; n < 100; n += 1) outbox.sendLatest("job", () => Buffer.from(`more ${n}`));
    take();
    outbox.sendLatest("job", () => Buffer.from("last"));
    outbox.drained();
    expect(written.slice(1)).toEqual(["last"]);
  });

  it("writes nothing after it was dropped", () => {
    const { sink, written, take } = slowSink();
    const outbox = createOutbox({ sink, maxBytes: 20, lagged });
    outbox.sendReply(bytes(15, "a"));
    outbox.sendReply(bytes(15, "b"));
    outbox.sendLatest("job", () => bytes(1, "c"));
    outbox.drop();
    take();
    outbox.drained();
    outbox.sendReply(bytes(1, "d"));
    expect(written).toEqual(["a".repeat(15)]);
  });

  it("keeps replies whole and in order and stays within its bound, whatever comes", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("change" as const), length: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ kind: fc.constant("reply" as const), length: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ kind: fc.constant("take" as const), length: fc.constant(0) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const { sink, written, take } = slowSink();
        const outbox = createOutbox({ sink, maxBytes: 100, lagged });
        const sent: string[] = [];
        const replies: string[] = [];
        steps.forEach(({ kind, length }, at) => {
          const frame = Buffer.from(`${kind} ${at} ${"x".repeat(length)}`);
          if (kind === "change") {
            outbox.sendChange(frame);
            sent.push(frame.toString());
          } else if (kind === "reply" && !outbox.full) {
            outbox.sendReply(frame);
            sent.push(frame.toString());
            replies.push(frame.toString());
          } else {
            take();
            outbox.drained();
          }
          expect(outbox.queuedBytes).toBeLessThanOrEqual(100 + 60);
        });
        while (outbox.queuedBytes > 0) {
          take();
          outbox.drained();
        }
        const arrived = written.filter((frame) => frame !== "LAGGED");
        expect(arrived).toEqual(sent.filter((frame) => arrived.includes(frame)));
        expect(arrived.filter((frame) => frame.startsWith("reply"))).toEqual(replies);
        // Who missed something was told, after the last thing that came before the gap.
        if (arrived.length < sent.length) expect(written).toContain("LAGGED");
      }),
    );
  });
});

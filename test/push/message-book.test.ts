import { describe, expect, it } from "vitest";
import { createMessageBook, messageTtlMs } from "../../src/push/message-book.ts";

const message = (subscription = "s", device = "d") => ({ subscription, device, tell: ["request-1"] });

describe("the ids of pushes", () => {
  it("are random, of one device, and die after twelve hours", () => {
    const book = createMessageBook();
    const ids = [book.add(message(), 0), book.add(message(), 0)];
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(book.take(ids[0] ?? "", "another", 1)).toBeNull();
    expect(book.take("0".repeat(32), "d", 1)).toBeNull();
    expect(book.take(ids[0] ?? "", "d", messageTtlMs - 1)).toMatchObject({ tell: ["request-1"] });
    expect(book.take(ids[1] ?? "", "d", messageTtlMs)).toBeNull();
  });

  it("are for one fetch, which may be repeated for a minute", () => {
    const book = createMessageBook();
    const id = book.add(message(), 0);
    const first = book.take(id, "d", 1_000);
    if (first) first.given = [];
    expect(book.take(id, "d", 60_999)).toBe(first);
    expect(book.take(id, "d", 61_000)).toBeNull();
  });

  it("are at most sixteen for a subscription, and go with it", () => {
    const book = createMessageBook();
    const ids = Array.from({ length: 20 }, () => book.add(message(), 0));
    const other = book.add(message("s2"), 0);
    expect(ids.map((id) => book.take(id, "d", 1) !== null)).toEqual(ids.map((_, at) => at >= 4));
    book.drop("s");
    expect(ids.filter((id) => book.take(id, "d", 1))).toEqual([]);
    expect(book.take(other, "d", 1)).not.toBeNull();
  });
});

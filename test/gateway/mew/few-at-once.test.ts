import { describe, expect, it } from "vitest";
import { createFewAtOnce } from "../../../src/gateway/mew/few-at-once.ts";

const turnOfLoop = () => new Promise((resolve) => setImmediate(resolve));

describe("few at once", () => {
  it("runs no more than it may, each in its turn, with a round of the event loop between", async () => {
    const few = createFewAtOnce(2);
    const began: number[] = [];
    const ends: (() => void)[] = [];
    let running = 0;
    let most = 0;
    const all = Array.from({ length: 9 }, (_, n) =>
      few(async () => {
        began.push(n);
        running += 1;
        most = Math.max(most, running);
        await new Promise<void>((resolve) => ends.push(resolve));
        running -= 1;
        return n;
      }),
    );
    expect(began).toEqual([0, 1]);
    for (let ended = 0; ended < 9; ended += 1) {
      ends[ended]?.();
      await Promise.resolve();
      expect(began.length).toBeLessThanOrEqual(ended + 2);
      await turnOfLoop();
      await turnOfLoop();
    }
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(most).toBe(2);
  });

  it("goes on after work that failed, whether others wait for its place or not", async () => {
    const few = createFewAtOnce(1);
    const fails = () => Promise.reject(new Error("no"));
    const results = await Promise.allSettled([few(fails), few(async () => "a"), few(fails)]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
    await turnOfLoop();
    expect(await few(async () => "b")).toBe("b");
    await turnOfLoop();
    expect(await Promise.all([few(async () => "c"), few(async () => "d")])).toEqual(["c", "d"]);
  });
});

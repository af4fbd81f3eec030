import { describe, expect, it } from "vitest";
import { createSharedReads } from "../../../src/gateway/mew/shared-reads.ts";

describe("reads that are shared", () => {
  let reads = 0;
  const read = async (): Promise<number> => {
    reads += 1;
    return reads;
  };

  it("are begun after everybody who is given them has asked", async () => {
    reads = 0;
    const shared = createSharedReads<number>();
    const first = shared.ask("a");
    expect(await first.value(read)).toBe(1);
    const crowd = Array.from({ length: 5 }, () => shared.ask("a"));
    first.end();
    expect(await Promise.all(crowd.map((each) => each.value(read)))).toEqual([2, 2, 2, 2, 2]);
    // Asked again, while what was read last is still there.
    const again = shared.ask("a");
    expect(await again.value(read)).toBe(3);
    expect(await crowd[0]?.value(read)).toBe(3);
  });

  it("are those of one thing, and forgotten when nobody asks for it any more", async () => {
    reads = 0;
    const shared = createSharedReads<number>();
    const [one, other] = [shared.ask("a"), shared.ask("b")];
    expect([await one.value(read), await other.value(read)]).toEqual([1, 2]);
    one.end();
    const next = shared.ask("a");
    expect(await next.value(read)).toBe(3);
  });

  it("fail for all who share them, and not for those who ask later", async () => {
    reads = 0;
    const shared = createSharedReads<number>();
    const [one, other] = [shared.ask("a"), shared.ask("a")];
    const fail = async (): Promise<number> => {
      throw new Error("no disk");
    };
    await expect(one.value(fail)).rejects.toThrow("no disk");
    await expect(other.value(read)).rejects.toThrow("no disk");
    expect(await shared.ask("a").value(read)).toBe(1);
  });
});

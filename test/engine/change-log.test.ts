import { describe, expect, it } from "vitest";
import { createChangeLog } from "../../src/engine/change-log.ts";

const notice = (message: string) => ({ type: "notice", message }) as const;

describe("createChangeLog", () => {
  it("tells every listener all changes in order, also those that a listener causes or that follow one that throws", () => {
    const errors: unknown[] = [];
    const log = createChangeLog({
      instance: "i",
      maxCount: 10,
      maxBytes: 1e6,
      onListenerError: (error) => errors.push(error),
    });
    const seen: number[] = [];
    log.subscribe((logged) => {
      if (logged.rev === 1) log.append(notice("caused"));
      throw new Error("bad listener");
    });
    const stop = log.subscribe((logged) => seen.push(logged.rev));
    expect(log.append(notice("one"))).toBe(1);
    expect(log.append(notice("two"))).toBe(3);
    stop();
    log.append(notice("three"));
    expect(seen).toEqual([1, 2, 3]);
    expect(errors).toHaveLength(4);
  });

  it("gives what came after a rev while it is in the ring, and null for what left it or is from the future", () => {
    const log = createChangeLog({ instance: "i", maxCount: 3, maxBytes: 1e6 });
    expect(log.since(0)).toEqual([]);
    for (let n = 1; n <= 5; n += 1) log.append(notice(String(n)));
    expect(log.since(5)).toEqual([]);
    expect(log.since(3)?.map((logged) => logged.rev)).toEqual([4, 5]);
    expect(log.since(2)?.map((logged) => logged.rev)).toEqual([3, 4, 5]);
    expect(log.since(1)).toBeNull();
    expect(log.since(6)).toBeNull();
    expect(log.since(-1)).toBeNull();
  });

  it("is bounded in bytes, but always holds the newest change", () => {
    const log = createChangeLog({ instance: "i", maxCount: 100, maxBytes: 1_000 });
    for (let n = 0; n < 10; n += 1) log.append(notice("x".repeat(400)));
    expect(log.since(log.rev - 2)).toHaveLength(2);
    expect(log.since(log.rev - 3)).toBeNull();
    log.append(notice("x".repeat(5_000)));
    expect(log.since(log.rev - 1)).toHaveLength(1);
  });

  it("shows each listener the bytes of the change it is told, whatever an earlier listener appended meanwhile", () => {
    const log = createChangeLog({ instance: "i", maxCount: 10, maxBytes: 100 });
    const seen: unknown[] = [];
    log.subscribe((logged) => {
      if (logged.rev === 1) for (let n = 0; n < 5; n += 1) log.append(notice("later".repeat(4)));
    });
    log.subscribe(({ rev, forAdmin, forOthers }) => {
      seen.push(rev);
      expect(JSON.parse(forAdmin.toString())).toMatchObject({ rev });
      expect(forOthers).toBe(forAdmin);
    });
    log.append(notice("first"));
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

import { describe, expect, it } from "vitest";
import { createClosers } from "../../src/daemon/closers.ts";
import { silentLog } from "../../src/lib/log.ts";

describe("createClosers", () => {
  it("takes down what was built last first, one after the other", async () => {
    const happened: string[] = [];
    const closers = createClosers(() => silentLog);
    for (const name of ["files", "engine", "sockets"])
      closers.add(name, async () => {
        happened.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        happened.push(`${name} ends`);
      });
    await closers.run(5_000);
    expect(happened).toEqual([
      "sockets begins",
      "sockets ends",
      "engine begins",
      "engine ends",
      "files begins",
      "files ends",
    ]);
  });

  it("goes on after a step that throws or rejects, and logs it", async () => {
    const happened: string[] = [];
    const logged: string[] = [];
    const log = { ...silentLog, error: (fields: object) => logged.push(JSON.stringify(fields)) };
    const closers = createClosers(() => log);
    closers.add("last", () => void happened.push("last"));
    closers.add("rejects", () => Promise.reject(new Error("no")));
    closers.add("throws", () => {
      throw new Error("no");
    });
    await closers.run(5_000);
    expect(happened).toEqual(["last"]);
    expect(logged).toHaveLength(2);
  });

  it("does not wait for one that hangs, and still begins the others", async () => {
    const happened: string[] = [];
    const closers = createClosers(() => silentLog);
    closers.add("flush", () => void happened.push("flush"));
    closers.add("hangs", () => new Promise<void>(() => undefined));
    await closers.run(20);
    expect(happened).toEqual(["flush"]);
  });

  it("runs once, however often it is called", async () => {
    let count = 0;
    const closers = createClosers(() => silentLog);
    closers.add("one", () => void count++);
    await Promise.all([closers.run(5_000), closers.run(5_000)]);
    expect(count).toBe(1);
  });
});

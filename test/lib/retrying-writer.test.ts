import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createRetryingWriter, writeRefused } from "../../src/lib/retrying-writer.ts";

describe("createRetryingWriter", () => {
  it("shares one write among those who wait, and never runs two at once", async () => {
    let running = 0;
    let writes = 0;
    const writer = createRetryingWriter({
      write: async () => {
        running += 1;
        expect(running).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        writes += 1;
      },
      onFailure: () => undefined,
    });
    const first = writer.save();
    const others = Array.from({ length: 20 }, () => writer.save());
    await first;
    expect(writer.behind).toBe(true);
    const late = writer.save();
    await Promise.all([...others, late]);
    expect(writes).toBe(2);
    expect(writer.behind).toBe(false);
  });

  it("a save that waits behind a failing one is tried and resolves on its own merit", async () => {
    let fail = true;
    const writer = createRetryingWriter({
      write: async () => {
        await Promise.resolve();
        if (fail) throw new Error("no");
      },
      onFailure: () => {
        fail = false;
      },
    });
    const first = writer.save();
    const second = writer.save();
    await expect(first).rejects.toThrow("no");
    await second;
    expect(writer.behind).toBe(false);
    await writer.close();
  });

  it("backs off between retries and stops when it is closed", async () => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const write = vi.fn(() => Promise.reject(new Error("no")));
    const writer = createRetryingWriter({
      write,
      onFailure: () => undefined,
      firstRetryMs: 100,
      maxRetryMs: 300,
    });
    await expect(writer.save()).rejects.toThrow();
    await vi.advanceTimersByTimeAsync(100 + 200 + 300 + 300);
    expect(write).toHaveBeenCalledTimes(5);
    await expect(writer.close()).rejects.toThrow();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(write).toHaveBeenCalledTimes(6);
  });

  it.each([
    ["ENOSPC", "disk_full"],
    ["EDQUOT", "disk_full"],
    ["EACCES", "internal"],
    ["", "internal"],
  ])("names %j to the client as %s", (code, expected) => {
    expect(writeRefused(Object.assign(new Error("x"), { code }), "text")).toMatchObject({
      code: expected,
      status: 503,
    });
  });
});

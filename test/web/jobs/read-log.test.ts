import { describe, expect, it } from "vitest";
import { AnswerError } from "../../../src/client/answer-error.ts";
import type { Rest } from "../../../src/client/rest.ts";
import { boundaryFrom, readWholeLog } from "../../../web/jobs/read-log.ts";

/** A log as the daemon gives it: chunks of at most four bytes, cut at characters. */
function restOf(log: Buffer, done = true): Rest {
  const isInside = (offset: number): boolean => ((log[offset] ?? 0) & 0xc0) === 0x80;
  const answer = (path: string) => {
    const offset = Number(/offset=(\d+)/.exec(path)?.[1]);
    if (offset > log.length || isInside(offset))
      throw new AnswerError(422, { type: "error", code: "invalid_field", message: "no", field: "offset" });
    let end = Math.min(offset + 4, log.length);
    while (end < log.length && isInside(end)) end -= 1;
    return {
      type: "job_output",
      job: "3fa9c210",
      offset,
      next_offset: end,
      size: log.length,
      output: log.subarray(offset, end).toString(),
      done: done && end === log.length,
      incomplete: false,
    };
  };
  return {
    base: "",
    request: async (_method, path) => ({ status: 200, body: answer(path) }),
    body: async <T>(_method: string, path: string) => answer(path) as T,
  };
}

describe("reading a log", () => {
  it("begins at the next character when the place it wants is inside of one", async () => {
    const log = Buffer.from("a😀b");
    expect(await boundaryFrom(restOf(log), "3fa9c210", 0)).toBe(0);
    expect(await boundaryFrom(restOf(log), "3fa9c210", 2)).toBe(5);
    await expect(boundaryFrom(restOf(log), "3fa9c210", 50)).rejects.toThrow("no");
  });
  it("puts the whole of it together, and says how far it is", async () => {
    const text = "grüße 😀 ".repeat(300);
    const shares: number[] = [];
    const blob = await readWholeLog(
      restOf(Buffer.from(text)),
      "3fa9c210",
      (share) => shares.push(share),
      new AbortController().signal,
    );
    expect(await blob.text()).toBe(text);
    expect(shares.at(-1)).toBe(1);
  });
  it("ends with what there is so far while the job runs", async () => {
    const blob = await readWholeLog(
      restOf(Buffer.from("so far"), false),
      "3fa9c210",
      () => undefined,
      new AbortController().signal,
    );
    expect(await blob.text()).toBe("so far");
  });
  it("stops when it is told to", async () => {
    const controller = new AbortController();
    const reading = readWholeLog(
      restOf(Buffer.alloc(400, 97)),
      "x",
      () => controller.abort(),
      controller.signal,
    );
    await expect(reading).rejects.toThrow();
  });
});

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { checkLogRequest, maxTailLines, readLog } from "../../../src/engine/jobs/read-log.ts";
import { cleanUp, temporaryFolder } from "./harness.ts";

afterEach(cleanUp);

function logOf(bytes: Uint8Array | string): string {
  const path = join(temporaryFolder(), "log");
  writeFileSync(path, bytes);
  return path;
}
const refused = (field: string) => expect.objectContaining({ code: "invalid_field", status: 422, field });

describe("checkLogRequest", () => {
  it.each([
    [{ offset: -1 }, "offset"],
    [{ offset: 1.5 }, "offset"],
    [{ offset: Number.NaN }, "offset"],
    [{ offset: 2 ** 60 }, "offset"],
    [{ limit: 3 }, "limit"],
    [{ limit: 65_537 }, "limit"],
    [{ limit: 4.5 }, "limit"],
    [{ tail: 0 }, "tail"],
    [{ tail: -5 }, "tail"],
    [{ tail: maxTailLines + 1 }, "tail"],
    [{ tail: 5, offset: 0 }, "tail"],
  ])("refuses %j, naming the field", (request, field) => {
    expect(() => checkLogRequest(request)).toThrow(refused(field));
  });
  it.each([
    [{}],
    [{ offset: 0, limit: 4 }],
    [{ limit: 65_536 }],
    [{ tail: 1 }],
    [{ tail: maxTailLines, limit: 100 }],
  ])("accepts %j", (request) => {
    expect(() => checkLogRequest(request)).not.toThrow();
  });
});

describe("readLog", () => {
  it("gives the whole log, whatever its bytes, when it is read chunk by chunk", async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.string({ unit: "binary" }).map((s) => Buffer.from(s)),
    );
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 4, max: 40 }), async (raw, limit) => {
        const path = logOf(raw);
        let text = "";
        let offset = 0;
        for (;;) {
          const chunk = await readLog(path, { offset, limit }, true);
          expect(Buffer.byteLength(chunk.output)).toBeLessThanOrEqual(limit);
          expect([chunk.offset, chunk.size]).toEqual([offset, raw.length]);
          text += chunk.output;
          offset = chunk.nextOffset;
          if (offset === raw.length) break;
          expect(chunk.output).not.toBe("");
        }
        expect(text).toBe(new TextDecoder("utf-8", { ignoreBOM: true }).decode(raw));
      }),
      { numRuns: 200 },
    );
  });

  it("never gives more than 64 KiB of UTF-8, also of a log of invalid bytes", async () => {
    const path = logOf(new Uint8Array(200_000).fill(0xff));
    const first = await readLog(path, { offset: 0 }, true);
    expect(Buffer.byteLength(first.output)).toBe(65_535);
    expect(first.nextOffset).toBe(21_845);
    const last = await readLog(path, {}, true);
    expect(Buffer.byteLength(last.output)).toBe(65_535);
    expect([last.offset, last.nextOffset]).toEqual([200_000 - 21_845, 200_000]);
  });

  it("gives an empty chunk at the end and refuses an offset beyond it or inside a character", async () => {
    const path = logOf("aé😀");
    expect(await readLog(path, { offset: 7 }, false)).toEqual({
      offset: 7,
      nextOffset: 7,
      size: 7,
      output: "",
    });
    for (const offset of [2, 4, 5, 6, 8, 1e15])
      await expect(readLog(path, { offset }, true)).rejects.toThrow(refused("offset"));
    expect((await readLog(path, { offset: 3 }, true)).output).toBe("😀");
  });

  it("holds back a cut character while the job runs, from any offset in it", async () => {
    const path = logOf(Uint8Array.from([0x61, 0xf0, 0x9f, 0x98]));
    expect(await readLog(path, { offset: 0 }, false)).toMatchObject({ output: "a", nextOffset: 1, size: 4 });
    expect(await readLog(path, { offset: 2 }, false)).toMatchObject({ output: "", nextOffset: 2 });
    expect(await readLog(path, {}, false)).toMatchObject({ offset: 0, output: "a", nextOffset: 1 });
    expect(await readLog(path, { tail: 1 }, false)).toMatchObject({ output: "a", nextOffset: 1 });
    expect(await readLog(path, { offset: 0 }, true)).toMatchObject({ output: "a\uFFFD", nextOffset: 4 });
  });

  it("gives the last 64 KiB without an offset, from the start of a character", async () => {
    const path = logOf(`${"é".repeat(50_000)}z`);
    const chunk = await readLog(path, {}, true);
    expect(chunk).toMatchObject({ nextOffset: 100_001, size: 100_001 });
    expect(chunk.offset).toBe(34_466);
    expect(chunk.output).toBe(`${"é".repeat(32_767)}z`);
  });

  it("gives the last lines, as many as fit", async () => {
    const path = logOf("one\ntwo\nthree\n");
    expect((await readLog(path, { tail: 2 }, true)).output).toBe("two\nthree\n");
    expect((await readLog(path, { tail: 2000 }, true)).output).toBe("one\ntwo\nthree\n");
    expect((await readLog(path, { tail: 3, limit: 8 }, true)).output).toBe("o\nthree\n");
    const long = logOf(`first\n${"x".repeat(100_000)}\nlast\n`);
    const chunk = await readLog(long, { tail: 2 }, true);
    expect(chunk.output).toHaveLength(65_536);
    expect(chunk.output.endsWith("x\nlast\n")).toBe(true);
    expect((await readLog(logOf(""), { tail: 3 }, true)).output).toBe("");
  });

  it("a job that puts a link or a folder in the place of its log: refuses to read it", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "daemon.token"), "spm_secret");
    symlinkSync(join(folder, "daemon.token"), join(folder, "link.log"));
    mkdirSync(join(folder, "folder.log"));
    for (const name of ["link.log", "folder.log", "missing.log"])
      await expect(readLog(join(folder, name), {}, true)).rejects.toThrow(
        expect.objectContaining({ code: "not_found" }),
      );
  });
});

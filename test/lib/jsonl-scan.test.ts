import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRecords, scanLines } from "../../src/lib/jsonl-scan.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-scan-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function scan(text: string, range: { from?: number; to?: number; maxLineBytes?: number } = {}) {
  const path = join(folder, "file.jsonl");
  await writeFile(path, text);
  const handle = await openRecords(path);
  if (!handle) throw new Error("the file is not there");
  try {
    const lines: string[] = [];
    const end = await scanLines(
      handle,
      { from: 0, to: Buffer.byteLength(text), maxLineBytes: 1_000_000, ...range },
      (line) => {
        lines.push(line.toString());
        return undefined;
      },
    );
    return { lines, end };
  } finally {
    await handle.close();
  }
}

describe("scanLines", () => {
  it("gives whole lines and the offset behind the last of them", async () => {
    expect(await scan("a\nbb\ncc")).toEqual({ lines: ["a", "bb"], end: 5 });
    expect(await scan("")).toEqual({ lines: [], end: 0 });
    expect(await scan("torn")).toEqual({ lines: [], end: 0 });
  });

  it("leaves out a line that begins before the range", async () => {
    expect((await scan("abc\ndef\n", { from: 1 })).lines).toEqual(["def"]);
    expect((await scan("abc\ndef\n", { from: 4 })).lines).toEqual(["def"]);
    expect((await scan("abc\ndef\n", { from: 0, to: 6 })).lines).toEqual(["abc"]);
  });

  it("skips a line over the bound to its end, whatever its length", async () => {
    const { lines, end } = await scan(`a\n${"x".repeat(200_000)}\nb\n`, { maxLineBytes: 1_000 });
    expect(lines).toEqual(["a", "b"]);
    expect(end).toBe(200_005);
  });

  it("finds the same lines however the file is cut into two scans", async () => {
    const text = fc.array(fc.string({ maxLength: 40 }), { maxLength: 20 }).map((lines) => lines.join("\n"));
    await fc.assert(
      fc.asyncProperty(text, fc.nat(), async (whole, at) => {
        const bytes = Buffer.from(whole);
        const cut = bytes.length === 0 ? 0 : at % bytes.length;
        const first = await scan(whole, { to: cut });
        const second = await scan(whole, { from: first.end });
        expect([...first.lines, ...second.lines]).toEqual((await scan(whole)).lines);
      }),
      { numRuns: 60 },
    );
  });
});

describe("openRecords", () => {
  it("opens no link and no folder, and tells that nothing is there", async () => {
    await symlink("/etc/passwd", join(folder, "link.jsonl"));
    expect(await openRecords(join(folder, "link.jsonl"))).toBeNull();
    expect(await openRecords(folder)).toBeNull();
    expect(await openRecords(join(folder, "none.jsonl"))).toBeNull();
  });
});

import { appendFile, mkdtemp, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Jsonl, openJsonl } from "../../src/lib/jsonl.ts";
import { readJsonl, readJsonlPage, walkJsonlBackwards } from "../../src/lib/jsonl-read.ts";
import { failWrites } from "../engine/support/failing-disk.ts";

const maxLineBytes = 200_000;
const maxScanBytes = 10_000_000;
let folder: string;
let path: string;
let restore: (() => void) | null = null;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-jsonl-"));
  path = join(folder, "a.jsonl");
});
afterEach(async () => {
  restore?.();
  restore = null;
  await rm(folder, { recursive: true, force: true });
});

async function withFile<T>(use: (file: Jsonl) => Promise<T>): Promise<T> {
  const file = await openJsonl({ path, maxLineBytes });
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

async function readAll(): Promise<unknown[]> {
  const records: unknown[] = [];
  await readJsonl(path, { maxLineBytes }, (record) => records.push(record));
  return records;
}

async function pages(maxRecords: number, maxBytes = 1e9): Promise<{ records: unknown[]; damaged: number }> {
  let records: unknown[] = [];
  let damaged = 0;
  let before: number | undefined;
  for (;;) {
    const page = await readJsonlPage({
      path,
      maxRecords,
      maxBytes,
      maxLineBytes,
      maxScanBytes,
      ...(before === undefined ? {} : { before }),
    });
    if (!page) return { records, damaged };
    records = [...page.records, ...records];
    damaged += page.damaged;
    if (page.before === null) return { records, damaged };
    before = page.before;
  }
}

describe("openJsonl", () => {
  it("creates the file with mode 0600 whatever the umask and appends one record a line in the order of the calls", async () => {
    await withFile(async (file) => {
      await Promise.all(Array.from({ length: 50 }, (_, n) => file.append([{ n }], { sync: n % 7 === 0 })));
      await file.append([{ n: 50 }, { n: 51 }]);
      expect(file.sizeBytes).toBe((await stat(path)).size);
    });
    expect((await readAll()).map((record) => (record as { n: number }).n)).toEqual(
      Array.from({ length: 52 }, (_, n) => n),
    );
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("does not follow a link that somebody put in the place of the file", async () => {
    const target = join(folder, "target");
    await writeFile(target, "");
    await symlink(target, path);
    await expect(openJsonl({ path, maxLineBytes })).rejects.toThrow();
    expect(await readFile(target, "utf8")).toBe("");
  });

  it("survives a cut at every byte: everything before the cut line is kept and the next append is whole", async () => {
    await withFile((file) =>
      file.append([
        { n: 0, text: "café" },
        { n: 1, text: "a\nb" },
        { n: 2, text: "“x”" },
      ]),
    );
    const whole = await readFile(path);
    for (let cut = 0; cut <= whole.byteLength; cut += 1) {
      await writeFile(path, whole.subarray(0, cut));
      const kept = whole.subarray(0, cut).toString("latin1").split("\n").length - 1;
      const torn = (await pages(2)).records;
      await withFile((file) => file.append([{ n: "after" }]));
      const records = (await readAll()) as { n: unknown }[];
      expect(torn.length).toBe(kept);
      expect(records.map((record) => record.n)).toEqual([0, 1, 2].slice(0, kept).concat(["after" as never]));
    }
  });

  it("cuts off a torn tail of megabytes without a newline", async () => {
    await withFile((file) => file.append([{ n: 1 }]));
    await appendFile(path, "x".repeat(3_000_000));
    await withFile(async (file) => {
      expect(file.cutBytes).toBe(3_000_000);
      await file.append([{ n: 2 }]);
    });
    expect(await readAll()).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it("takes a failed append back and goes on when the disk takes bytes again", async () => {
    await withFile(async (file) => {
      await file.append([{ n: 1 }]);
      restore = failWrites({ code: "ENOSPC", partialBytes: 5 });
      await expect(file.append([{ n: 2 }, { n: 3 }])).rejects.toMatchObject({ code: "ENOSPC" });
      restore();
      expect((await stat(path)).size).toBe(file.sizeBytes);
      await file.append([{ n: 4 }]);
    });
    expect(await readAll()).toEqual([{ n: 1 }, { n: 4 }]);
  });

  it("overwrites what a failed append left when even taking it back failed", async () => {
    await withFile(async (file) => {
      await file.append([{ n: 1 }]);
      restore = failWrites({ code: "EIO", partialBytes: 7, truncateFails: true });
      await expect(file.append([{ text: "long enough to be seen" }])).rejects.toMatchObject({ code: "EIO" });
      restore();
      await file.append([{ n: 2 }]);
    });
    expect(await readAll()).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it("writes nothing when the check at the commit point throws, and still writes its neighbours", async () => {
    await withFile(async (file) => {
      const results = await Promise.allSettled([
        file.append([{ n: 1 }]),
        file.append([{ n: 2 }], {
          beforeWrite: () => {
            throw new Error("revoked");
          },
        }),
        file.append([{ n: 3 }]),
      ]);
      expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    });
    expect(await readAll()).toEqual([{ n: 1 }, { n: 3 }]);
  });

  it("refuses a record over the bound and an append after close", async () => {
    const file = await openJsonl({ path, maxLineBytes: 100 });
    await expect(file.append([{ text: "x".repeat(100) }])).rejects.toBeInstanceOf(TypeError);
    await file.close();
    await expect(file.append([{ n: 1 }])).rejects.toBeInstanceOf(TypeError);
    expect((await stat(path)).size).toBe(0);
  });
});

describe("reading", () => {
  it("pages backwards over every record exactly once, whatever the sizes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ maxLength: 200, unit: "grapheme" }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 600 }),
        async (texts, maxRecords, maxBytes) => {
          await rm(path, { force: true });
          await withFile((file) => file.append(texts.map((text, n) => ({ n, text }))));
          expect((await pages(maxRecords, maxBytes)).records).toEqual(texts.map((text, n) => ({ n, text })));
        },
      ),
      { numRuns: 40 },
    );
  });

  it("reads lines longer than its chunk, and from an offset inside a line only what is before that line", async () => {
    const long = "é".repeat(50_000);
    await withFile((file) => file.append([{ n: 1 }, { long }, { n: 3 }]));
    expect((await pages(1)).records).toEqual([{ n: 1 }, { long }, { n: 3 }]);
    const inside = await readJsonlPage({
      path,
      before: 5_000,
      maxRecords: 5,
      maxBytes: 1e9,
      maxLineBytes,
      maxScanBytes,
    });
    expect(inside).toEqual({ records: [{ n: 1 }], before: null, damaged: 0 });
  });

  it("skips and counts damaged lines, bad UTF-8 and lines over the bound, never joining them to another", async () => {
    const lines = [
      Buffer.from('{"n":1}'),
      Buffer.from("{torn"),
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      Buffer.from(`{"long":"${"x".repeat(maxLineBytes)}"}`),
      Buffer.from("[1]"),
      Buffer.from(""),
      Buffer.from('{"n":2}'),
    ];
    await writeFile(path, Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")])));
    expect(await pages(10)).toEqual({ records: [{ n: 1 }, { n: 2 }], damaged: 5 });
    expect(await pages(1)).toEqual({ records: [{ n: 1 }, { n: 2 }], damaged: 5 });
    const records: unknown[] = [];
    expect(await readJsonl(path, { maxLineBytes }, (record) => records.push(record))).toEqual({
      lines: 7,
      damaged: 5,
    });
    expect(records).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it("stops at the scan bound and goes on from there without losing a record", async () => {
    const texts = Array.from({ length: 300 }, (_, n) => ({ n, text: "x".repeat((n * 37) % 3_000) }));
    await withFile((file) => file.append(texts));
    let before: number | undefined;
    let all: unknown[] = [];
    for (let calls = 0; calls < 500; calls += 1) {
      const page = await readJsonlPage({
        path,
        maxRecords: 1_000,
        maxBytes: 1e9,
        maxLineBytes,
        maxScanBytes: 100_000,
        ...(before === undefined ? {} : { before }),
      });
      all = [...(page?.records ?? []), ...all];
      if (!page || page.before === null) break;
      before = page.before;
    }
    expect(all).toEqual(texts);
  });

  it("walks from the newest record to the oldest and stops when told", async () => {
    await withFile((file) => file.append([{ n: 1 }, { n: 2 }, { n: 3 }]));
    const seen: unknown[] = [];
    const found = await walkJsonlBackwards(path, { maxLineBytes, maxScanBytes }, (record) => {
      seen.push(record.n);
      return record.n === 2 ? "stop" : "go_on";
    });
    expect(found).toBe(true);
    expect(seen).toEqual([3, 2]);
    expect(await walkJsonlBackwards(join(folder, "none"), { maxLineBytes, maxScanBytes }, () => "stop")).toBe(
      false,
    );
  });

  it("gives an empty page for an empty file, null for a missing one, and refuses a folder", async () => {
    await writeFile(path, "");
    expect(await pages(3)).toEqual({ records: [], damaged: 0 });
    await truncate(path, 0);
    const options = { maxRecords: 1, maxBytes: 1, maxLineBytes, maxScanBytes };
    expect(await readJsonlPage({ path: join(folder, "none"), ...options })).toBeNull();
    await expect(readJsonlPage({ path: folder, ...options })).rejects.toThrow();
  });
});

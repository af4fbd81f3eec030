import { mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { absentMark, fileMark, watchFile } from "../../../src/daemon/reload/watch-file.ts";

let folder: string;
let path: string;
let stop: () => void = () => undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-watch-"));
  path = join(folder, "config.toml");
});
afterEach(async () => {
  stop();
  await rm(folder, { recursive: true, force: true });
});

async function watch(settleMs = 5) {
  const seen: string[] = [];
  stop = watchFile({
    path,
    known: await fileMark(path),
    lookMs: 5,
    settleMs,
    absentMs: settleMs,
    onChange: (mark) => seen.push(mark),
  });
  return seen;
}

describe("watchFile", () => {
  it("tells once of a file that appears, changes, is replaced and goes", async () => {
    const seen = await watch();
    await writeFile(path, "a");
    await vi.waitFor(() => expect(seen).toHaveLength(1), 60_000);
    await writeFile(path, "b");
    await vi.waitFor(() => expect(seen).toHaveLength(2), 60_000);
    await writeFile(join(folder, "new"), "c");
    await rename(join(folder, "new"), path);
    await vi.waitFor(() => expect(seen).toHaveLength(3), 60_000);
    await rm(path);
    await vi.waitFor(() => expect(seen).toHaveLength(4), 60_000);
    expect(seen[3]).toBe(absentMark);
    expect(new Set(seen).size).toBe(4);
  });

  it("sees a change of the file behind a link", async () => {
    await writeFile(join(folder, "real"), "a");
    await symlink(join(folder, "real"), path);
    const seen = await watch();
    await writeFile(join(folder, "real"), "bb");
    await vi.waitFor(() => expect(seen).toHaveLength(1), 60_000);
  });

  it("says nothing once it was stopped, not even of a change that it was waiting for", async () => {
    await writeFile(path, "a");
    const seen = await watch(50);
    await writeFile(path, "b");
    stop();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(seen).toEqual([]);
  });
});

describe("fileMark", () => {
  it("has a mark for whatever is there", async () => {
    expect(await fileMark(path)).toBe(absentMark);
    expect(await fileMark(join(folder, "x".repeat(300)))).toBe("unreadable ENAMETOOLONG");
  });
});

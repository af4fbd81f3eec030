import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStateFile } from "../../src/lib/state-file.ts";
import { failWrites } from "../engine/support/failing-disk.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-state-"));
  path = join(folder, "state.json");
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("openStateFile", () => {
  it("is empty without a file and creates none before something is kept", async () => {
    const state = await openStateFile({ path });
    expect(state.get("access")).toBeUndefined();
    expect(state.get("toString")).toBeUndefined();
    expect(await readdir(folder)).toEqual([]);
  });

  it("keeps sections of different owners over a restart, mode 0600, and loses no concurrent update", async () => {
    const state = await openStateFile({ path });
    await Promise.all([
      state.update("access", () => "on"),
      ...Array.from({ length: 20 }, () => state.update("count", (current) => ((current as number) ?? 0) + 1)),
    ]);
    const again = await openStateFile({ path });
    expect(again.get("access")).toBe("on");
    expect(again.get("count")).toBe(20);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("stays what it was when the disk refuses", async () => {
    const state = await openStateFile({ path });
    await state.update("access", () => "off");
    const restore = failWrites({ code: "ENOSPC" });
    await expect(state.update("access", () => "on")).rejects.toMatchObject({ code: "ENOSPC" });
    restore();
    expect(state.get("access")).toBe("off");
    expect((await openStateFile({ path })).get("access")).toBe("off");
  });

  it.each([
    ["cut in the middle", '{"version":1,"acc'],
    ["empty", ""],
    ["a list", "[]"],
    ["without a version", "{}"],
    ["from a newer version", '{"version":2}'],
  ])("refuses a file that is %s, names it and the next step, and leaves it alone", async (_title, text) => {
    await writeFile(path, text, { mode: 0o600 });
    await expect(openStateFile({ path })).rejects.toThrow(`mv ${path} ${path}.aside`);
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it("refuses a file that others may read", async () => {
    await writeFile(path, '{"version":1}', { mode: 0o600 });
    await chmod(path, 0o644);
    await expect(openStateFile({ path })).rejects.toThrow(`chmod 600 ${path}`);
  });
});

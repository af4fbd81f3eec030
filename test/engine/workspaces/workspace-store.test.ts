import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { WorkspaceDoc } from "../../../src/engine/workspaces/workspace-doc.ts";
import { createWorkspaceStore } from "../../../src/engine/workspaces/workspace-store.ts";
import { newId } from "../../../src/lib/ids.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-store-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("patchSoon", () => {
  it("saves what a disk refused as soon as the disk takes it, though nobody changes anything again", async () => {
    const workspaces = join(folder, "workspaces");
    await mkdir(workspaces);
    const id = newId();
    const doc: WorkspaceDoc = {
      version: 1,
      id,
      name: "main",
      used: "2026-11-30T12:00:00.000Z",
      active_tab: null,
      tabs: [],
    };
    const reports: string[] = [];
    const store = createWorkspaceStore({
      folder: workspaces,
      docs: [doc],
      report: (problem) => reports.push(problem),
      saveAfterMs: 20,
    });
    await rename(workspaces, `${workspaces}.away`);
    store.patchSoon(id, (before) => ({ ...before, name: "renamed" }));
    await vi.waitFor(() => expect(reports.join()).toContain("could not be saved"), { timeout: 60_000 });
    await rename(`${workspaces}.away`, workspaces);
    await vi.waitFor(
      async () =>
        expect(JSON.parse(await readFile(join(workspaces, `${id}.json`), "utf8")).name).toBe("renamed"),
      { timeout: 60_000 },
    );
    await store.close();
  });
});

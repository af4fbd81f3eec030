import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createSessionIndex, type SessionIndex } from "../../../src/engine/sessions/session-index.ts";
import { newId } from "../../../src/lib/ids.ts";
import { lineOf, writeSession } from "./transcripts-on-disk.ts";

let root: string;
let folder: string;
let index: SessionIndex;
const problems: string[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "sallyport-index-"));
  folder = join(root, "sessions");
  await mkdir(folder);
  index = open();
});
afterEach(async () => {
  await index.close();
  await rm(root, { recursive: true });
});

function open(): SessionIndex {
  return createSessionIndex({
    folder,
    cachePath: join(root, "cache", "sessions.json"),
    report: (problem) => problems.push(problem),
    saveAfterMs: 60_000,
  });
}
async function ids(): Promise<string[]> {
  await index.refresh();
  return index.rows().map((row) => row.id);
}

describe("createSessionIndex", () => {
  it("finds out about a transcript from its ends", async () => {
    const id = await writeSession(folder, {
      label: "tests",
      model: "small",
      prompt: "\n  fix the\tfailing test\nthen stop",
      records: [
        { type: "model_changed", model: "large" },
        {
          type: "tool_finished",
          call_id: "c",
          tool: "bash",
          output: "x".repeat(100_000),
          is_error: false,
          millis: 1,
        },
        { type: "title", title: "Failing test" },
        { type: "usage", input_tokens: 1, output_tokens: 1, context_tokens: 4_000 },
      ],
    });
    await index.refresh();
    expect(index.get(id)).toMatchObject({
      label: "tests",
      title: "Failing test",
      prompt: "fix the failing test",
      cwd: "/srv/api",
      runtime: "shell",
      model: "large",
      parent: null,
      started: "2026-11-30T10:00:00.000Z",
      context_tokens: 4_000,
      damaged: false,
    });
  });

  it("lists the newest last record first", async () => {
    const old = await writeSession(folder, { at: "2026-11-01T00:00:00.000Z" });
    const young = await writeSession(folder, { at: "2026-11-03T00:00:00.000Z" });
    const middle = await writeSession(folder, { at: "2026-11-02T00:00:00.000Z" });
    expect(await ids()).toEqual([young, middle, old]);
  });

  it("sees what was appended, added and removed since", async () => {
    const first = await writeSession(folder, { at: "2026-11-01T00:00:00.000Z" });
    const second = await writeSession(folder, { at: "2026-11-02T00:00:00.000Z" });
    expect(await ids()).toEqual([second, first]);
    await appendFile(
      join(folder, `${first}.jsonl`),
      lineOf(first, "2026-11-05T00:00:00.000Z", { type: "title", title: "Later" }),
    );
    index.touch(first);
    expect(await ids()).toEqual([first, second]);
    expect(index.get(first)?.title).toBe("Later");
    const third = await writeSession(folder, { at: "2026-11-09T00:00:00.000Z" });
    await rm(join(folder, `${second}.jsonl`));
    expect(await ids()).toEqual([third, first]);
  });

  it("keeps a title that stands before what was appended", async () => {
    const id = await writeSession(folder, { prompt: "x", records: [{ type: "title", title: "Early" }] });
    await index.refresh();
    const path = join(folder, `${id}.jsonl`);
    for (let round = 0; round < 3; round += 1) {
      await appendFile(
        path,
        lineOf(id, "2026-11-30T11:00:00.000Z", { type: "notice", message: "n".repeat(30_000) }),
      );
      index.touch(id);
      await index.refresh();
    }
    expect(index.get(id)?.title).toBe("Early");
  });

  it("costs neither the others nor itself when a transcript is damaged, empty, torn, a link or a folder", async () => {
    const good = await writeSession(folder);
    const [garbage, empty, torn, linked, inside, odd] = Array.from({ length: 6 }, () => newId());
    await writeFile(join(folder, `${garbage}.jsonl`), "\u0000garbage\n{]\n");
    await writeFile(join(folder, `${empty}.jsonl`), "");
    await writeFile(join(folder, `${torn}.jsonl`), '{"agent":"x","seq":1,"at":"2026-11-30T10:');
    await symlink(join(folder, `${good}.jsonl`), join(folder, `${linked}.jsonl`));
    await mkdir(join(folder, `${inside}.jsonl`));
    await writeFile(
      join(folder, `${odd}.jsonl`),
      `${JSON.stringify({ agent: odd, seq: 1, at: 7, type: "agent_started", label: {}, cwd: 5, parent: [], model: 1 })}\n`,
    );
    await writeFile(join(folder, "notes.jsonl"), "");
    await writeFile(join(folder, `${good}.next.json`), "{}");
    expect(new Set(await ids())).toEqual(new Set([good, garbage, empty, torn, odd]));
    for (const id of [garbage, empty, torn]) expect(index.get(id ?? "")?.damaged).toBe(true);
    expect(index.get(odd ?? "")).toMatchObject({ label: null, cwd: null, parent: null, damaged: false });
  });

  it("reads no transcript again after a restart with its cache, and finds out anew without it", async () => {
    const id = await writeSession(folder, { prompt: "one" });
    await index.refresh();
    await index.close();
    const cachePath = join(root, "cache", "sessions.json");
    const cached = JSON.parse(await readFile(cachePath, "utf8"));
    expect(cached.sessions).toHaveLength(1);
    // What only the cache says shows that it was used.
    cached.sessions[0].prompt = "from the cache";
    await writeFile(cachePath, JSON.stringify(cached), { mode: 0o600 });
    index = open();
    await index.refresh();
    expect(index.get(id)?.prompt).toBe("from the cache");
    await writeFile(cachePath, '{"version":1,"sessions":[{"id":7}]}', { mode: 0o600 });
    index = open();
    await index.refresh();
    expect(index.get(id)?.prompt).toBe("one");
  });

  it("believes no cache about a file that has changed meanwhile", async () => {
    const id = await writeSession(folder, { prompt: "one" });
    await index.refresh();
    await index.close();
    await writeSession(folder, { id, prompt: "two" });
    await utimes(join(folder, `${id}.jsonl`), new Date(), new Date(1_000));
    index = open();
    await index.refresh();
    expect(index.get(id)?.prompt).toBe("two");
  });

  it("goes on without a cache where the disk takes none", async () => {
    await writeFile(join(root, "cache"), "a file where the folder should be");
    const id = await writeSession(folder);
    expect(await ids()).toEqual([id]);
    problems.length = 0;
    await index.close();
    expect(problems).toHaveLength(1);
    await rm(join(root, "cache"));
  });

  it("looks at no file at all when nothing has changed", async () => {
    await Promise.all(Array.from({ length: 50 }, () => writeSession(folder)));
    // A folder's time must be older than the tick in which another change could hide.
    await utimes(folder, new Date(), new Date(1_000_000));
    await index.refresh();
    const rows = index.rows();
    const reads = vi.spyOn(JSON, "parse");
    await index.refresh();
    expect(reads).not.toHaveBeenCalled();
    expect(index.rows()).toBe(rows);
    reads.mockRestore();
    expect(await readdir(folder)).toHaveLength(50);
  });

  it("shares one look among all who ask at once", async () => {
    await Promise.all(Array.from({ length: 20 }, () => writeSession(folder)));
    await Promise.all(Array.from({ length: 100 }, () => index.refresh()));
    expect(index.rows()).toHaveLength(20);
  });
});

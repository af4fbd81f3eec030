import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSessionIndex, type SessionIndex } from "../../../src/engine/sessions/session-index.ts";
import { createUsageIndex } from "../../../src/engine/usage/usage-index.ts";
import { lineOf, writeSession } from "../sessions/transcripts-on-disk.ts";

const nowMs = Date.parse("2026-11-30T12:00:00.000Z");
let root: string;
let folder: string;
let sessions: SessionIndex;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "sallyport-usage-"));
  folder = join(root, "sessions");
  await mkdir(folder);
  sessions = createSessionIndex({
    folder,
    cachePath: join(root, "cache", "sessions.json"),
    report: () => undefined,
    saveAfterMs: 60_000,
  });
});
afterEach(async () => {
  await sessions.close();
  await rm(root, { recursive: true });
});

const openUsage = () =>
  createUsageIndex({
    folder,
    cachePath: join(root, "cache", "usage.json"),
    sessions,
    report: () => undefined,
  });
const tokens = (input: number, cost: number | null = null) => ({
  type: "usage",
  input_tokens: input,
  output_tokens: 1,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  cost,
  context_tokens: null,
});

describe("createUsageIndex", () => {
  it("sums up today, the week, the window, per model and per day", async () => {
    const id = await writeSession(folder, {
      model: "small",
      at: "2026-11-30T01:00:00.000Z",
      records: [tokens(10, 0.1)],
    });
    const path = join(folder, `${id}.jsonl`);
    await appendFile(
      path,
      lineOf(id, "2026-11-30T02:00:00.000Z", { type: "model_changed", model: "large" }) +
        lineOf(id, "2026-11-30T02:00:01.000Z", tokens(100, 0.2)) +
        lineOf(id, "2026-11-24T23:59:59.999Z", tokens(1_000)) +
        lineOf(id, "2026-11-23T23:59:59.999Z", tokens(10_000)) +
        lineOf(id, "2026-10-01T00:00:00.000Z", tokens(100_000)),
    );
    await writeSession(folder, { parent: id, at: "2026-11-30T03:00:00.000Z", records: [tokens(7)] });
    const usage = await openUsage().usage(30, nowMs);
    expect(usage).toMatchObject({ days: 30, from: "2026-11-01", to: "2026-11-30", time_zone: "UTC" });
    expect(usage.today).toEqual({
      input_tokens: 117,
      output_tokens: 3,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      cost: 0.3,
    });
    expect(usage.week.input_tokens).toBe(1_117);
    expect(usage.window.input_tokens).toBe(11_117);
    expect(usage.per_model.map((each) => [each.model, each.input_tokens, each.cost])).toEqual([
      ["large", 11_100, 0.2],
      ["small", 10, 0.1],
      [null, 7, null],
    ]);
    expect(usage.per_day).toHaveLength(30);
    expect(usage.per_day.at(-1)).toMatchObject({ day: "2026-11-30", input_tokens: 117 });
    expect(usage.per_day[0]).toMatchObject({ day: "2026-11-01", input_tokens: 0, cost: null });
    expect((await openUsage().usage(1, nowMs)).window).toEqual(usage.today);
  });

  it("reads later only what was appended, over restarts too", async () => {
    const id = await writeSession(folder, {
      model: "m",
      at: "2026-11-30T01:00:00.000Z",
      records: [tokens(1)],
    });
    const path = join(folder, `${id}.jsonl`);
    const first = openUsage();
    expect((await first.usage(1, nowMs)).today.input_tokens).toBe(1);
    // A torn line counts when it is whole, and once.
    const line = lineOf(id, "2026-11-30T02:00:00.000Z", tokens(10));
    await appendFile(path, line.slice(0, 20));
    sessions.touch(id);
    expect((await first.usage(1, nowMs)).today.input_tokens).toBe(1);
    await appendFile(path, line.slice(20));
    sessions.touch(id);
    const second = openUsage();
    expect((await second.usage(1, nowMs)).today.input_tokens).toBe(11);
    expect((await second.usage(1, nowMs)).today.input_tokens).toBe(11);
    const cached = JSON.parse(await readFile(join(root, "cache", "usage.json"), "utf8"));
    expect(cached.sessions[0].offset).toBe(cached.sessions[0].bytes);
  });

  it("forgets a deleted session and one that was written anew", async () => {
    const id = await writeSession(folder, {
      at: "2026-11-30T01:00:00.000Z",
      records: [tokens(1), tokens(2)],
    });
    const other = await writeSession(folder, { at: "2026-11-30T01:00:00.000Z", records: [tokens(4)] });
    const index = openUsage();
    expect((await index.usage(1, nowMs)).today.input_tokens).toBe(7);
    await rm(join(folder, `${other}.jsonl`));
    await writeSession(folder, { id, at: "2026-11-30T01:00:00.000Z", records: [tokens(8)] });
    sessions.touch(id);
    expect((await index.usage(1, nowMs)).today.input_tokens).toBe(8);
  });

  it("takes no nonsense for a number, and no text of a tool for an event", async () => {
    const id = await writeSession(folder, {
      at: "2026-11-30T01:00:00.000Z",
      records: [
        { type: "usage", input_tokens: -5, output_tokens: 1.5, cache_read_tokens: "9", cost: Number.NaN },
        { type: "usage", input_tokens: 1e300, cost: -1 },
        { type: "tool_finished", output: '{"type":"usage","input_tokens":5}' },
        { type: "usage", input_tokens: 3 },
      ],
    });
    await appendFile(
      join(folder, `${id}.jsonl`),
      '{"type": "usage", "at": "never", "input_tokens": 9}\n{"usage"\n',
    );
    expect((await openUsage().usage(1, nowMs)).today).toEqual({
      input_tokens: 3,
      output_tokens: 0,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      cost: null,
    });
  });

  it("finds out anew when its cache is damaged", async () => {
    await mkdir(join(root, "cache"));
    await writeFile(join(root, "cache", "usage.json"), "nonsense", { mode: 0o600 });
    await writeSession(folder, { at: "2026-11-30T01:00:00.000Z", records: [tokens(1)] });
    expect((await openUsage().usage(1, nowMs)).today.input_tokens).toBe(1);
  });
});

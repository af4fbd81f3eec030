import { mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createAuditLog } from "../../src/pairing/audit-log.ts";
import { fakeClock, temporaryHome } from "./fakes.ts";

async function setUp(options: { maxBytes?: number; maxPendingLines?: number } = {}) {
  const { home, audit } = await temporaryHome();
  const onProblem = vi.fn();
  const log = createAuditLog({ path: audit, clock: fakeClock(), onProblem, ...options });
  return { home, path: audit, log, onProblem };
}
const lines = async (path: string): Promise<string[]> => (await readFile(path, "utf8")).trimEnd().split("\n");

afterEach(() => {
  vi.useRealTimers();
});

describe("the audit log", () => {
  it("appends a line an event, in order, readable by this user only", async () => {
    const { log, path } = await setUp();
    for (let count = 1; count <= 50; count += 1) log.record({ type: "door_closed", door: `d${count}` });
    await log.close();
    expect((await lines(path)).map((line) => (JSON.parse(line) as { door: string }).door)).toEqual(
      Array.from({ length: 50 }, (_, index) => `d${index + 1}`),
    );
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("flood: a million wrong codes are two lines", async () => {
    const { log, path } = await setUp();
    for (let count = 0; count < 1_000_000; count += 1) log.recordMiss();
    await log.close();
    expect((await lines(path)).map((line) => (JSON.parse(line) as { count: number }).count)).toEqual([
      1, 999_999,
    ]);
  });

  it("says once a minute how many wrong codes there were", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { log, path } = await setUp();
    for (let count = 0; count < 3; count += 1) log.recordMiss();
    vi.advanceTimersByTime(60_000);
    log.recordMiss();
    vi.advanceTimersByTime(60_000);
    vi.advanceTimersByTime(60_000);
    log.recordMiss();
    vi.useRealTimers();
    await log.close();
    expect((await lines(path)).map((line) => (JSON.parse(line) as { count: number }).count)).toEqual([
      1, 2, 1, 1,
    ]);
  });

  it("flood: never grows beyond its cap and one part before it, not even by what waited for the disk", async () => {
    const { log, path } = await setUp({ maxBytes: 2_000 });
    for (let round = 0; round < 60; round += 1)
      log.record({ type: "door_closed", door: `d${round}`.padEnd(200, "x") });
    await log.close();
    expect((await stat(path)).size).toBeLessThanOrEqual(2_000);
    expect((await stat(`${path}.1`)).size).toBeLessThanOrEqual(2_000);
    expect((await lines(path)).at(-1)).toContain("d59x");
  });

  it("flood: holds a bounded number of lines while the disk is slow, and says that some were dropped", async () => {
    const { log, path, onProblem } = await setUp({ maxPendingLines: 10 });
    for (let count = 0; count < 100; count += 1) log.record({ type: "token_rotated" });
    await log.close();
    expect((await lines(path)).length).toBeLessThanOrEqual(20);
    expect(String(onProblem.mock.calls[0])).toMatch(/lines were not written/);
  });

  it("kill -9 in the middle of a line: the next one begins on its own", async () => {
    const { log, path } = await setUp();
    await writeFile(path, '{"at":"2026', { mode: 0o600 });
    log.record({ type: "token_rotated" });
    await log.close();
    expect((await lines(path))[1]).toContain("token_rotated");
  });

  it("a file that cannot be written is told once, and later lines arrive when it can", async () => {
    const { log, path, onProblem } = await setUp();
    await mkdir(path);
    log.record({ type: "token_rotated" });
    await vi.waitFor(() => expect(onProblem).toHaveBeenCalledTimes(1), { timeout: 60_000 });
    await rm(path, { recursive: true });
    log.record({ type: "door_closed", door: "d" });
    await log.close();
    expect(await lines(path)).toHaveLength(1);
  });

  it("planted link: writes nothing into the file it points at", async () => {
    const { home, log, path, onProblem } = await setUp();
    await writeFile(`${home}/victim`, "");
    await symlink(`${home}/victim`, path);
    log.record({ type: "token_rotated" });
    await log.close();
    expect(await readFile(`${home}/victim`, "utf8")).toBe("");
    expect(onProblem).toHaveBeenCalled();
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import {
  isRunning,
  parseProcessIdentity,
  parseProcStat,
  parsePsLine,
  readProcessIdentity,
} from "../../src/lib/process-identity.ts";

describe("readProcessIdentity", () => {
  it("names this process the same way twice", async () => {
    const first = await readProcessIdentity(process.pid);
    expect(first).not.toBeNull();
    expect(await readProcessIdentity(process.pid)).toEqual(first);
  });

  it("knows that a process has ended", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => 1, 1000)"]);
    await once(child, "spawn");
    const identity = await readProcessIdentity(child.pid ?? 0);
    if (!identity) throw new Error("the child has no identity");
    expect(await isRunning(identity)).toBe(true);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await isRunning(identity)).toBe(false);
  });

  it.each([0, -1, 1.5, Number.NaN, 2 ** 60])("gives nothing for the impossible pid %s", async (pid) => {
    expect(await readProcessIdentity(pid)).toBeNull();
  });

  it("is not fooled by a stranger that got the pid, nor by another boot", async () => {
    const own = await readProcessIdentity(process.pid);
    if (!own) throw new Error("no identity");
    expect(await isRunning({ ...own, start: `${own.start}0` })).toBe(false);
    expect(await isRunning({ ...own, boot: "another" })).toBe(false);
  });
});

describe("parseProcStat", () => {
  const rest = "1 4711 4711 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 98765 1000 1";
  it.each([
    [`4711 (node) S ${rest}`, "98765", "a sleeping process"],
    [`4711 (a) Z (b) S ${rest}`, "98765", "a name made to look like fields"],
    [`4711 (node) Z ${rest}`, null, "a zombie"],
    ["", null, "an empty file"],
    ["4711 (node) S", null, "a cut line"],
  ])("reads %j as %j (%s)", (text, expected, _why) => {
    expect(parseProcStat(text)).toBe(expected);
  });
});

describe("parsePsLine", () => {
  it.each([
    ["Ss   Mon Nov 30 12:00:00 2026\n", "Mon Nov 30 12:00:00 2026"],
    ["Z+   Mon Nov 30 12:00:00 2026\n", null],
    ["", null],
  ])("reads %j as %j", (text, expected) => {
    expect(parsePsLine(text)).toBe(expected);
  });
});

describe("parseProcessIdentity", () => {
  it.each([
    [{ boot: "b", pid: 1, start: "2" }, true],
    [{ boot: "b", pid: -1, start: "2" }, false],
    [{ boot: "b", pid: "1", start: "2" }, false],
    [{ pid: 1, start: "2" }, false],
    [null, false],
    ["x", false],
  ])("takes %j: %s", (raw, good) => {
    expect(parseProcessIdentity(raw) !== null).toBe(good);
  });
});

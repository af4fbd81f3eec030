import { describe, expect, it } from "vitest";
import {
  leftOutMarker,
  maxForwardedBytes,
  planForward,
  refill,
  windowBytes,
} from "../../../src/engine/jobs/call-output.ts";
import { checkSpec, jobEnvironment, maxCommandBytes } from "../../../src/engine/jobs/check-spec.ts";
import { endOf, type JobRecord, parseJobRecord } from "../../../src/engine/jobs/job-record.ts";
import { logProblem, nextLookMs } from "../../../src/engine/jobs/log-guard.ts";
import { decideRecovery, type RecoveryFacts } from "../../../src/engine/jobs/recover-job.ts";
import { chooseRemovals } from "../../../src/engine/jobs/retention.ts";

describe("endOf", () => {
  it.each([
    [{ exitCode: 0, leaderSignal: null, killAsked: false, neverStarted: false }, "exited", 0],
    [{ exitCode: 143, leaderSignal: null, killAsked: false, neverStarted: false }, "exited", 143],
    [{ exitCode: 143, leaderSignal: null, killAsked: true, neverStarted: false }, "killed", 143],
    [{ exitCode: 0, leaderSignal: null, killAsked: true, neverStarted: false }, "killed", 0],
    [{ exitCode: null, leaderSignal: 9, killAsked: true, neverStarted: false }, "killed", 137],
    [{ exitCode: null, leaderSignal: null, killAsked: true, neverStarted: false }, "killed", null],
    [{ exitCode: null, leaderSignal: 9, killAsked: false, neverStarted: false }, "lost", null],
    [{ exitCode: null, leaderSignal: null, killAsked: false, neverStarted: false }, "lost", null],
    [{ exitCode: null, leaderSignal: null, killAsked: false, neverStarted: true }, "failed", null],
    [{ exitCode: null, leaderSignal: null, killAsked: true, neverStarted: true }, "killed", null],
  ] as const)("%j is %s", (facts, state, exitCode) => {
    expect(endOf(facts)).toEqual({ state, exitCode });
  });
});

describe("decideRecovery", () => {
  const facts: RecoveryFacts = {
    kind: "job",
    running: true,
    killAsked: false,
    sameBoot: true,
    leaderAlive: true,
    groupAlive: true,
    hasExit: false,
  };
  it.each<[string, Partial<RecoveryFacts>, unknown]>([
    ["a job that runs on is adopted", {}, { action: "adopt" }],
    ["a kill that was asked for is finished", { killAsked: true }, { action: "end" }],
    [
      "also when only the rest of the group is left",
      { killAsked: true, leaderAlive: false, hasExit: true },
      { action: "end" },
    ],
    [
      "after another boot nothing is signalled",
      { killAsked: true, sameBoot: false },
      { action: "finish", incomplete: false },
    ],
    [
      "one that ended has its status",
      { leaderAlive: false, groupAlive: false, hasExit: true },
      { action: "finish", incomplete: false },
    ],
    [
      "one that left others behind is incomplete",
      { leaderAlive: false, hasExit: true },
      { action: "finish", incomplete: true },
    ],
    ["a call that nobody waits for is ended", { kind: "call" }, { action: "end" }],
    ["a terminal whose agent is gone is ended", { kind: "terminal" }, { action: "end" }],
    [
      "a call whose leader was killed is cleared away",
      { kind: "call", leaderAlive: false },
      { action: "end" },
    ],
    [
      "what a call left behind by itself is left alone",
      { kind: "call", leaderAlive: false, hasExit: true },
      { action: "finish", incomplete: false },
    ],
    ["an ended record is put away", { running: false }, { action: "put_away" }],
  ])("%s", (_name, more, recovery) => {
    expect(decideRecovery({ ...facts, ...more })).toEqual(recovery);
  });
});

describe("logProblem", () => {
  const bounds = { maxLogBytes: 1_000_000, freeDiskFloorBytes: 500 };
  it.each([
    [{ bytes: 999_999, grew: true }, 500, null],
    [{ bytes: 1_000_000, grew: false }, 500, "its log reached 1,000,000 bytes"],
    [{ bytes: 10, grew: true }, 499, "the disk has only 499 bytes left (500 are kept free)"],
    [{ bytes: 10, grew: false }, 499, null],
    [{ bytes: 10, grew: true }, null, null],
  ])("of %j with %j bytes free is %j", (log, free, problem) => {
    expect(logProblem(log, free, bounds)).toBe(problem);
  });
});

describe("nextLookMs", () => {
  it.each([
    [{ bytes: 0, grownBytes: 0, sinceMs: 250 }, 250],
    [{ bytes: 100, grownBytes: 100, sinceMs: 250 }, 250],
    [{ bytes: 900, grownBytes: 900, sinceMs: 180 }, 10],
    [{ bytes: 500, grownBytes: 500, sinceMs: 200 }, 100],
  ])("after %j it is %i ms", (log, ms) => {
    expect(nextLookMs(log, 1_000)).toBe(ms);
  });
});

describe("chooseRemovals", () => {
  const day = 24 * 60 * 60 * 1000;
  const log = (id: string, days: number, bytes: number) => ({ id, endedMs: days * day, bytes });
  const bounds = { maxTotalBytes: 100, keepDays: 30 };
  it.each([
    ["nothing while all fit", [log("a", 1, 40), log("b", 2, 40)], 0, []],
    ["the oldest first", [log("b", 2, 40), log("c", 3, 40), log("a", 1, 40)], 0, ["a"]],
    [
      "more when running jobs take the room",
      [log("a", 1, 40), log("b", 2, 40), log("c", 3, 40)],
      60,
      ["a", "b"],
    ],
    ["never the newest for its size", [log("a", 1, 40), log("b", 2, 400)], 0, ["a"]],
    ["what is too old, the newest too", [log("a", -31, 1)], 0, ["a"]],
  ])("removes %s", (_name, ended, otherBytes, removed) => {
    expect(chooseRemovals(ended, otherBytes, bounds, 3 * day)).toEqual(removed);
  });
});

describe("planForward", () => {
  const facts = { position: 0, size: 1_000, budgetBytes: windowBytes, forwardedBytes: 0, ended: false };
  const half = windowBytes / 2;
  it.each([
    ["nothing new", { position: 1_000 }, []],
    ["what fits", {}, [{ do: "forward", maxBytes: 1_000 }]],
    ["in order while not far behind", { size: 2 * windowBytes }, [{ do: "forward", maxBytes: windowBytes }]],
    ["nothing until half the budget is back", { size: 2 * windowBytes, budgetBytes: half - 1 }, []],
    [
      "a first and a last part of a flood",
      { size: 10_000_000 },
      [
        { do: "forward", maxBytes: half },
        { do: "skip", to: 10_000_000 - half },
        { do: "forward", maxBytes: half },
      ],
    ],
    ["nothing more over the bound of a call", { size: 1_000, forwardedBytes: maxForwardedBytes }, []],
    [
      "but the last part at its end",
      { size: 1_000_000, forwardedBytes: maxForwardedBytes, ended: true },
      [
        { do: "skip", to: 1_000_000 - half },
        { do: "forward", maxBytes: half },
      ],
    ],
  ])("forwards %s", (_name, more, steps) => {
    expect(planForward({ ...facts, ...more })).toEqual(steps);
  });

  it("refills 64 KiB in 100 ms and keeps no more", () => {
    expect([refill(0, 50), refill(0, 100), refill(10, 10_000)]).toEqual([half, windowBytes, windowBytes]);
  });

  it("counts what it left out", () => {
    expect(leftOutMarker(1_234_567)).toBe("\n[… 1,234,567 bytes left out …]\n");
  });
});

describe("checkSpec", () => {
  it.each([
    [{ command: "", cwd: "/" }, "invalid_field", "command"],
    [{ command: "a\0b", cwd: "/" }, "invalid_field", "command"],
    [{ command: "a\uD800", cwd: "/" }, "invalid_field", "command"],
    [{ command: "x".repeat(maxCommandBytes + 1), cwd: "/" }, "too_large", "command"],
    [{ command: "é".repeat(maxCommandBytes / 2 + 1), cwd: "/" }, "too_large", "command"],
    [{ command: "x", cwd: "relative" }, "invalid_field", "cwd"],
    [{ command: "x", cwd: "/a\0b" }, "invalid_field", "cwd"],
    [{ command: "x", cwd: `/${"x".repeat(5_000)}` }, "invalid_field", "cwd"],
  ])("refuses what could not reach the shell (%#)", (spec, code, field) => {
    expect(() => checkSpec(spec)).toThrow(expect.objectContaining({ code, field }));
  });
});

describe("jobEnvironment", () => {
  it("takes out everything of ours, the token above all", () => {
    expect(
      jobEnvironment({
        PATH: "/bin",
        SALLYPORT_TOKEN: "x",
        SALLYPORT_HOME: "y",
        SALLYPORT_JOB: "z",
        U: undefined,
      }),
    ).toEqual({
      PATH: "/bin",
    });
  });
});

describe("parseJobRecord", () => {
  const record: JobRecord = {
    version: 1,
    id: "0000000a",
    kind: "job",
    workspace: null,
    tab: null,
    agent: null,
    command: "x",
    cwd: "/",
    pid: 42,
    start: 7,
    boot: "b",
    state: "running",
    exit_code: null,
    reason: null,
    started: "2026-01-01T00:00:00.000Z",
    ended: null,
    bytes: 0,
    incomplete: false,
    kill: null,
  };
  it("reads what was written", () => {
    expect(parseJobRecord("0000000a", JSON.stringify(record))).toEqual(record);
  });
  it.each<[string, string]>([
    ["nothing", ""],
    ["half a record", JSON.stringify(record).slice(0, 40)],
    ["another id", JSON.stringify({ ...record, id: "0000000b" })],
    ["a pid that would be a group or init", JSON.stringify({ ...record, pid: -1 })],
    ["pid 1", JSON.stringify({ ...record, pid: 1 })],
    ["pid 0", JSON.stringify({ ...record, pid: 0 })],
    ["an unknown state", JSON.stringify({ ...record, state: "x" })],
    ["an end without a time", JSON.stringify({ ...record, state: "exited" })],
    ["a time that is none", JSON.stringify({ ...record, started: "soon" })],
    ["a list", "[]"],
    ["null", "null"],
  ])("makes nothing of %s", (_name, text) => {
    expect(parseJobRecord("0000000a", text)).toBeNull();
  });
});

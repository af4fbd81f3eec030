import { describe, expect, it } from "vitest";
import type { Job } from "../../../src/protocol/objects.ts";
import { endText, logFileName, markOf, sizeText, sortJobs } from "../../../web/jobs/job-words.ts";

function job(more: Partial<Job>): Job {
  return {
    id: "3fa9c210",
    workspace: null,
    tab: null,
    agent: null,
    command: "npm test",
    cwd: "/srv/api",
    pid: 1,
    state: "running",
    exit_code: null,
    reason: null,
    started: "2026-11-30T12:00:00.000Z",
    ended: null,
    bytes: 0,
    ...more,
  } as Job;
}

describe("the words of a job", () => {
  it.each([
    [{ state: "running" }, null],
    [{ state: "exited", exit_code: 0 }, "Ended well"],
    [{ state: "exited", exit_code: 130 }, "Ended with status 130"],
    [{ state: "killed" }, "Stopped"],
    [{ state: "failed", reason: "no such file" }, "no such file"],
    [{ state: "lost" }, "Its end was not seen"],
  ] as const)("say how %o ended", (more, text) => expect(endText(job(more))).toBe(text));

  it("mark one that ended with another status than 0 as failed", () => {
    expect(markOf(job({ state: "exited", exit_code: 3 }))).toBe("failed");
    expect(markOf(job({ state: "exited", exit_code: 0 }))).toBe("exited");
    expect(markOf(job({ state: "killed", exit_code: 143 }))).toBe("killed");
  });

  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.0 KB"],
    [18_230, "18 KB"],
    [999_600, "1.0 MB"],
    [1_073_741_824, "1.1 GB"],
  ])("say %d bytes as %s", (bytes, text) => expect(sizeText(bytes)).toBe(text));

  it("put those that run first, then the newest", () => {
    const at = (time: string, state: Job["state"]): Job =>
      job({ id: `${state}${time}`, started: time, state });
    const sorted = sortJobs([at("1", "exited"), at("2", "running"), at("3", "exited"), at("0", "running")]);
    expect(sorted.map(({ id }) => id)).toEqual(["running2", "running0", "exited3", "exited1"]);
  });

  it("make a file name without anything that a file system takes for a path", () => {
    expect(logFileName(job({ command: "npm test" }))).toBe("npm-test-3fa9c210.log");
    expect(logFileName(job({ command: "../../etc/passwd\u202e; rm -rf /" }))).toBe(
      "etc-passwd-rm-rf-3fa9c210.log",
    );
    expect(logFileName(job({ command: "∀∃" }))).toBe("job-3fa9c210.log");
  });
});

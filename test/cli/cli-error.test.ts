import { describe, expect, it } from "vitest";
import { describeFailure, failedError, noDaemonError, usageError } from "../../src/cli/cli-error.ts";
import { AnswerError, UnreachableError } from "../../src/client/answer-error.ts";
import { SallyportError } from "../../src/errors.ts";

const answer = (status: number, code: string): AnswerError =>
  new AnswerError(status, { type: "error", code, message: "No." });

describe("describeFailure", () => {
  it.each([
    ["wrong usage", usageError("x"), 2],
    ["no daemon", noDaemonError("x"), 3],
    ["a failure of ours", failedError("x"), 1],
    ["401", answer(401, "unauthorized"), 4],
    ["403", answer(403, "scope_missing"), 4],
    ["404", answer(404, "not_found"), 1],
    ["409", answer(409, "conflict"), 1],
    ["422", answer(422, "invalid_field"), 1],
    ["a refusal over the socket for want of a scope", answer(0, "scope_missing"), 4],
    ["a refusal over the socket by a deny rule", answer(0, "rule_denied"), 4],
    ["a conflict over the socket", answer(0, "conflict"), 1],
    ["nobody there", new UnreachableError("x"), 1],
    ["an error of a part of ours", new SallyportError("disk_full", "x"), 1],
    ["anything else", new Error("x"), 1],
    ["no error at all", "x", 1],
  ])("maps %s to its exit code", (_name, thrown, exitCode) => {
    expect(describeFailure(thrown).exitCode).toBe(exitCode);
  });

  it("keeps the system's words apart from the next step", () => {
    const { message } = describeFailure(new Error("ENOSPC: no space left on device, write"));
    expect(message).toBe(
      "ENOSPC: no space left on device, write. If this looks wrong, run: sallyport doctor",
    );
  });

  it("hands on the body of a refusal whole", () => {
    const body = { type: "error" as const, code: "conflict", message: "No.", reason: "running", agents: 1 };
    expect(describeFailure(new AnswerError(409, body)).body).toEqual(body);
  });
});

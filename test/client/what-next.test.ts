import { describe, expect, it } from "vitest";
import { AnswerError, UnreachableError } from "../../src/client/answer-error.ts";
import { afterClose, afterRefusal } from "../../src/client/what-next.ts";

describe("afterClose", () => {
  it.each([
    [4401, "revoked", { action: "stop", reason: "revoked" }],
    [4401, "expired", { action: "stop", reason: "revoked" }],
    [4403, "", { action: "stop", reason: "remote_off" }],
    [4403, "scope_missing", { action: "stop", reason: "scope_missing" }],
    [4400, "too many malformed frames", { action: "stop", reason: "malformed" }],
    [4408, "did not read", { action: "retry", waitMs: null }],
    [1001, "restart", { action: "retry", waitMs: null }],
    [1006, "", { action: "retry", waitMs: null }],
    [1009, "", { action: "retry", waitMs: null }],
    [1011, "internal", { action: "retry", waitMs: null }],
    [4999, "of a newer daemon", { action: "retry", waitMs: null }],
    [4429, '{"retry_after":7}', { action: "retry", waitMs: 7_000 }],
    [4429, '{"retry_after":1e9}', { action: "retry", waitMs: 600_000 }],
    [4429, '{"retry_after":-1}', { action: "retry", waitMs: 10_000 }],
    [4429, '{"retry_after":"7"}', { action: "retry", waitMs: 10_000 }],
    [4429, "[7]", { action: "retry", waitMs: 10_000 }],
    [4429, "", { action: "retry", waitMs: 10_000 }],
  ])("%i with %j", (code, reason, next) => {
    expect(afterClose(code, reason)).toMatchObject(next);
  });
});

describe("afterRefusal", () => {
  const answer = (status: number, code: string, extra: object = {}): AnswerError =>
    new AnswerError(status, { type: "error", code, message: "Why.", ...extra });

  it.each([
    ["a token that counts no more", answer(401, "unauthorized"), { action: "stop", reason: "revoked" }],
    ["remote access that is off", answer(403, "remote_off"), { action: "stop", reason: "remote_off" }],
    ["a device that may not look", answer(403, "scope_missing"), { action: "stop", reason: "scope_missing" }],
    ["a name that the daemon does not know", answer(403, "host_refused"), { action: "retry", waitMs: null }],
    ["a daemon that is busy", answer(503, "overloaded"), { action: "retry", waitMs: null }],
    [
      "a throttle",
      answer(429, "rate_limited", { retry_after: 9 }),
      { action: "retry", waitMs: 9_000, message: "Why." },
    ],
    ["nobody", new UnreachableError("No answer."), { action: "retry", waitMs: null, message: "No answer." }],
    ["a daemon that is well", null, { action: "retry", waitMs: null }],
  ])("%s", (_name, failure, next) => {
    expect(afterRefusal(failure)).toMatchObject(next);
  });
});

import { describe, expect, it } from "vitest";
import { AnswerError, UnreachableError } from "../../src/client/answer-error.ts";
import { hello, pair } from "../../src/client/pair.ts";
import type { HttpAnswer, HttpRequest, SendHttp } from "../../src/client/rest.ts";

function answering(...answers: (HttpAnswer | Error)[]): { send: SendHttp; sent: HttpRequest[] } {
  const sent: HttpRequest[] = [];
  return {
    sent,
    send: async (request) => {
      sent.push(request);
      const answer = answers[Math.min(sent.length, answers.length) - 1];
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error("no answer");
      return answer;
    },
  };
}

const base = "https://box.example/sally";
const ok: HttpAnswer = { status: 200, text: '{"token":"spd_x","device":{"id":"d1"},"version":"1.0.0"}' };
const refused = (status: number, code: string): HttpAnswer => ({
  status,
  text: JSON.stringify({ type: "error", code, message: "No." }),
});
const lost = new UnreachableError("lost");
const claim = { base, code: "ABCDE-FGHJK", name: "laptop", wait: async () => undefined };

describe("pair", () => {
  it("sends the claim below the base, without a credential", async () => {
    const { send, sent } = answering(ok);
    expect(await pair({ ...claim, kind: "desktop", send })).toMatchObject({ token: "spd_x" });
    expect(sent).toMatchObject([{ method: "POST", url: `${base}/api/pair` }]);
    expect(sent[0]?.headers).not.toHaveProperty("authorization");
    expect(JSON.parse(sent[0]?.body ?? "")).toMatchObject({
      code: "ABCDE-FGHJK",
      name: "laptop",
      kind: "desktop",
      nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
  });

  it("repeats a lost claim with the same nonce, for less than the minute in which that counts", async () => {
    const waits: number[] = [];
    const { send, sent } = answering(lost, refused(503, "overloaded"), lost, ok);
    await pair({ ...claim, send, wait: async (ms) => void waits.push(ms) });
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
    expect(sent).toHaveLength(4);
    const never = answering(lost);
    await expect(pair({ ...claim, send: never.send, wait: async (ms) => void waits.push(ms) })).rejects.toBe(
      lost,
    );
    expect(never.sent.length).toBeLessThan(10);
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(60_000);
  });

  it.each([
    [403, "pairing_refused"],
    [429, "pairing_locked"],
    [422, "invalid_field"],
    [403, "remote_off"],
  ])("does not repeat what was refused with %i %s", async (status, code) => {
    const { send, sent } = answering(refused(status, code));
    await expect(pair({ ...claim, send })).rejects.toBeInstanceOf(AnswerError);
    expect(sent).toHaveLength(1);
  });
});

describe("hello", () => {
  it("knows a daemon, and nothing else", async () => {
    const daemon = answering({ status: 200, text: '{"app":"sallyport","version":"1.0.0"}' });
    expect(await hello(base, daemon.send)).toMatchObject({ version: "1.0.0" });
    for (const text of ['{"app":"other"}', "[]", "null", "<html>"])
      await expect(hello(base, answering({ status: 200, text }).send)).rejects.toBeInstanceOf(
        UnreachableError,
      );
  });
});

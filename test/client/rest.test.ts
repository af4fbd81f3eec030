import { describe, expect, it } from "vitest";
import { AnswerError, UnreachableError } from "../../src/client/answer-error.ts";
import { createRest, type HttpAnswer, type HttpRequest } from "../../src/client/rest.ts";

function restWith(answer: HttpAnswer, token: string | null = "spd_x") {
  const sent: HttpRequest[] = [];
  const rest = createRest({
    base: "https://x.example/base",
    token,
    send: async (request) => {
      sent.push(request);
      return answer;
    },
  });
  return { rest, sent };
}

describe("createRest", () => {
  it("sends the token in a header, never in the address", async () => {
    const { rest, sent } = restWith({ status: 200, text: "{}" });
    await rest.request("POST", "/api/command", { type: "ping" });
    expect(sent[0]).toMatchObject({
      url: "https://x.example/base/api/command",
      headers: { authorization: "Bearer spd_x", "content-type": "application/json" },
      body: '{"type":"ping"}',
    });
  });

  it("sends no credential without a token", async () => {
    const { rest, sent } = restWith({ status: 200, text: "{}" }, null);
    await rest.request("GET", "/api/hello");
    expect(sent[0]?.headers).toEqual({ accept: "application/json" });
  });

  it("answers null for an empty body", async () => {
    expect(await restWith({ status: 204, text: "" }).rest.request("DELETE", "/x")).toEqual({
      status: 204,
      body: null,
    });
  });

  it("throws a refusal with its body whole", async () => {
    const body = { type: "error", code: "conflict", message: "No.", reason: "running", agents: 2 };
    const { rest } = restWith({ status: 409, text: JSON.stringify(body) });
    await expect(rest.request("POST", "/x")).rejects.toMatchObject({
      name: "AnswerError",
      status: 409,
      body,
    });
  });

  it.each([
    ["of another shape", '{"error":"x"}'],
    ["that is no JSON", "<html>"],
    ["that is empty", ""],
  ])("gives a refusal %s a neutral body of our shape", async (_name, text) => {
    const { rest } = restWith({ status: 403, text });
    const error = await rest.request("GET", "/x").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AnswerError);
    expect((error as AnswerError).body).toMatchObject({ type: "error", code: "bad_request" });
  });

  it("takes an answer that is no JSON for somebody else's", async () => {
    await expect(restWith({ status: 200, text: "<html>" }).rest.request("GET", "/x")).rejects.toBeInstanceOf(
      UnreachableError,
    );
  });
});

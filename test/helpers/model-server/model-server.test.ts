import { afterEach, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { type Ask, playScenes, type Reply } from "./reply.ts";

const call = { name: "write", input: { path: "a" } };
const scenes = [{ when: "write", steps: [{ text: "I write.", calls: [call] }, { text: "Written." }] }];
const result = { output: "done" };

interface Form {
  readonly path: string;
  readonly whole: string;
  readonly first: Record<string, unknown>;
  readonly second: Record<string, unknown>;
  readonly key: Readonly<Record<string, string>>;
}

const forms: Readonly<Record<string, Form>> = {
  "OpenAI chat": {
    path: "/v1/chat/completions",
    whole: "/v1/chat/completions",
    key: { authorization: "Bearer k1" },
    first: { model: "m", messages: [{ role: "user", content: "write it" }] },
    second: {
      model: "m",
      messages: [
        { role: "user", content: [{ type: "text", text: "write it" }] },
        { role: "assistant", tool_calls: [] },
        { role: "tool", tool_call_id: "call_1_0", content: "done" },
      ],
    },
  },
  "OpenAI responses": {
    path: "/v1/responses",
    whole: "/v1/responses",
    key: { authorization: "Bearer k1" },
    first: { model: "m", input: [{ role: "user", content: [{ type: "input_text", text: "write it" }] }] },
    second: {
      model: "m",
      input: [
        { role: "user", content: [{ type: "input_text", text: "write it" }] },
        { type: "function_call_output", call_id: "call_1_0", output: "done" },
      ],
    },
  },
  Anthropic: {
    path: "/v1/messages",
    whole: "/v1/messages",
    key: { "x-api-key": "k1" },
    first: { model: "m", messages: [{ role: "user", content: "write it" }] },
    second: {
      model: "m",
      messages: [
        { role: "user", content: "write it" },
        { role: "assistant", content: [] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1_0", content: "done" }] },
      ],
    },
  },
  Gemini: {
    path: "/v1beta/models/m:streamGenerateContent?alt=sse",
    whole: "/v1beta/models/m:generateContent",
    key: { "x-goog-api-key": "k1" },
    first: { contents: [{ role: "user", parts: [{ text: "write it" }] }] },
    second: {
      contents: [
        { role: "user", parts: [{ text: "write it" }] },
        { role: "model", parts: [] },
        { role: "user", parts: [{ functionResponse: { name: "write", response: result } }] },
      ],
    },
  },
};

describe.each(Object.entries(forms))("the model server in the form of %s", (_name, form) => {
  let server: ModelServer;
  afterEach(() => server.close());

  const start = async (answer: (ask: Ask) => Reply = playScenes(scenes)) => {
    server = await startModelServer({ answer, key: "k1" });
  };
  const ask = async (body: unknown, path = form.path, key = form.key) => {
    const answer = await fetch(server.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...key },
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  };

  it("calls a tool, and goes on when its result is there", async () => {
    await start();
    const asked = await ask({ ...form.first, stream: true });
    expect(asked.status).toBe(200);
    expect(asked.text).toMatch(/^(event: \S+\n)?data: \{/);
    expect(asked.text).toContain("I write.");
    expect(asked.text).toContain('"name":"write"');
    const done = await ask({ ...form.second, stream: true });
    expect(done.text).toContain("Written.");
    expect(server.asks().map(({ model, prompt, results }) => [model, prompt, results.length])).toEqual([
      ["m", "write it", 0],
      ["m", "write it", 1],
    ]);
  });

  it("answers as one value, and refuses a wrong key and what it is told to refuse", async () => {
    await start();
    expect(JSON.parse((await ask(form.first, form.whole)).text)).toBeTypeOf("object");
    expect(await ask(form.first, form.whole, { authorization: "Bearer wrong" })).toMatchObject({
      status: 401,
      text: expect.stringContaining("error"),
    });
    for (const status of [429, 500] as const) {
      server.setAnswer(() => ({ status }));
      expect((await ask(form.first)).status).toBe(status);
    }
  });
});

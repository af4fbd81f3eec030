import { callsOf, type Piece, piecesOf, usage, type Voice } from "./speech.ts";

const counted = {
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
};

/** `POST /v1/chat/completions`. */
export const openAiChat: Voice = {
  last: "[DONE]",
  stream(reply, about) {
    const chunk = (delta: unknown, finish: string | null = null): Piece => ({
      data: {
        ...head(about.id, about.model, "chat.completion.chunk"),
        choices: [{ index: 0, delta, finish_reason: finish }],
      },
    });
    const calls = callsOf(reply, about);
    return [
      chunk({ role: "assistant", content: "" }),
      ...piecesOf(reply, reply.thinking ?? "").map((text) => chunk({ reasoning_content: text })),
      ...piecesOf(reply).map((text) => chunk({ content: text })),
      ...calls.flatMap(({ id, name, input }, index) => [
        chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: JSON.stringify(input) } }] }),
      ]),
      chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
      { data: { ...head(about.id, about.model, "chat.completion.chunk"), choices: [], usage: counted } },
    ];
  },
  whole(reply, about) {
    const calls = callsOf(reply, about).map(({ id, name, input }) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));
    const message = {
      role: "assistant",
      content: reply.text ?? null,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    return {
      ...head(about.id, about.model, "chat.completion"),
      choices: [{ index: 0, message, finish_reason: calls.length > 0 ? "tool_calls" : "stop" }],
      usage: counted,
    };
  },
  error: openAiError,
};

export function openAiError(status: number, message: string): unknown {
  const code = status === 401 ? "invalid_api_key" : status === 429 ? "rate_limit_exceeded" : null;
  return {
    error: { message, type: status < 500 ? "invalid_request_error" : "server_error", param: null, code },
  };
}

function head(id: string, model: string, object: string) {
  return { id: `chatcmpl-${id}`, object, created: 1_700_000_000, model };
}

import { callsOf, type Piece, piecesOf, usage, type Voice } from "./speech.ts";

/** `POST /v1beta/models/MODEL:generateContent` and `:streamGenerateContent`. */
export const gemini: Voice = {
  stream(reply, about) {
    const chunk = (parts: readonly unknown[], finishReason?: string): Piece => ({
      data: answer(about.model, parts, finishReason),
    });
    const calls = callsOf(reply, about).map(({ id, name, input }) => ({
      functionCall: { id, name, args: input },
    }));
    return [
      ...piecesOf(reply, reply.thinking ?? "").map((text) => chunk([{ text, thought: true }])),
      ...piecesOf(reply).map((text) => chunk([{ text }])),
      ...(calls.length > 0 ? [chunk(calls)] : []),
      chunk([{ text: "" }], "STOP"),
    ];
  },
  whole(reply, about) {
    const calls = callsOf(reply, about).map(({ id, name, input }) => ({
      functionCall: { id, name, args: input },
    }));
    return answer(
      about.model,
      [...(reply.text === undefined ? [] : [{ text: reply.text }]), ...calls],
      "STOP",
    );
  },
  error(status, message) {
    const name = { 400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED" }[status];
    return { error: { code: status, message, status: name ?? "INTERNAL" } };
  },
};

function answer(modelVersion: string, parts: readonly unknown[], finishReason?: string) {
  return {
    candidates: [
      {
        content: { role: "model", parts },
        index: 0,
        ...(finishReason === undefined ? {} : { finishReason }),
      },
    ],
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    },
    modelVersion,
  };
}

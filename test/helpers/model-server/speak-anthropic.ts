import type { Reply } from "./reply.ts";
import { type About, callsOf, type Piece, piecesOf, usage, type Voice } from "./speech.ts";

/** `POST /v1/messages`. */
export const anthropic: Voice = {
  stream(reply, about) {
    const pieces: Piece[] = [];
    const put = (type: string, fields: Record<string, unknown>): void => {
      pieces.push({ event: type, data: { type, ...fields } });
    };
    put("message_start", { message: { ...message(about, [], null), usage: counted(1) } });
    for (const [index, block] of blocksOf(reply, about).entries()) {
      if (block.type === "thinking") {
        put("content_block_start", { index, content_block: { ...block, thinking: "", signature: "" } });
        for (const thinking of piecesOf(reply, block.thinking))
          put("content_block_delta", { index, delta: { type: "thinking_delta", thinking } });
        put("content_block_delta", { index, delta: { type: "signature_delta", signature: block.signature } });
      } else if (block.type === "text") {
        put("content_block_start", { index, content_block: { ...block, text: "" } });
        for (const text of piecesOf(reply))
          put("content_block_delta", { index, delta: { type: "text_delta", text } });
      } else {
        put("content_block_start", { index, content_block: { ...block, input: {} } });
        put("content_block_delta", {
          index,
          delta: { type: "input_json_delta", partial_json: JSON.stringify(block.input) },
        });
      }
      put("content_block_stop", { index });
    }
    put("message_delta", {
      delta: { stop_reason: stopReason(reply), stop_sequence: null },
      usage: counted(usage.output),
    });
    put("message_stop", {});
    return pieces;
  },
  whole: (reply, about) => ({
    ...message(about, blocksOf(reply, about), stopReason(reply)),
    usage: counted(usage.output),
  }),
  error(status, text) {
    const type = { 400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error" }[
      status
    ];
    return { type: "error", error: { type: type ?? "api_error", message: text }, request_id: "req_test" };
  },
};

type Block =
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown };

function blocksOf(reply: Reply, about: About): readonly Block[] {
  const { thinking, text } = reply;
  return [
    ...(thinking === undefined ? [] : [{ type: "thinking", thinking, signature: "c2lnbmVk" } as const]),
    ...(text === undefined ? [] : [{ type: "text", text } as const]),
    ...callsOf(reply, about).map(({ id, name, input }) => ({ type: "tool_use", id, name, input }) as const),
  ];
}

function stopReason(reply: Reply): string {
  return (reply.calls?.length ?? 0) > 0 ? "tool_use" : "end_turn";
}

function message({ id, model }: About, content: readonly Block[], stop_reason: string | null) {
  return {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason,
    stop_sequence: null,
  };
}

function counted(output_tokens: number) {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens,
  };
}

import type { Reply } from "./reply.ts";
import { openAiError } from "./speak-openai-chat.ts";
import { type About, callsOf, type Piece, piecesOf, usage, type Voice } from "./speech.ts";

/** `POST /v1/responses`. */
export const openAiResponses: Voice = {
  stream(reply, about) {
    const pieces: Piece[] = [];
    const put = (type: string, fields: Record<string, unknown>): void => {
      pieces.push({ event: type, data: { type, sequence_number: pieces.length, ...fields } });
    };
    put("response.created", { response: response(about, "in_progress", []) });
    put("response.in_progress", { response: response(about, "in_progress", []) });
    const items = outputOf(reply, about);
    for (const [output_index, item] of items.entries()) {
      const at = { output_index, item_id: item.id };
      if (item.type === "message") {
        const part = { type: "output_text", text: reply.text ?? "", annotations: [] };
        put("response.output_item.added", {
          output_index,
          item: { ...item, status: "in_progress", content: [] },
        });
        put("response.content_part.added", { ...at, content_index: 0, part: { ...part, text: "" } });
        for (const delta of piecesOf(reply))
          put("response.output_text.delta", { ...at, content_index: 0, delta });
        put("response.output_text.done", { ...at, content_index: 0, text: part.text });
        put("response.content_part.done", { ...at, content_index: 0, part });
      } else {
        put("response.output_item.added", {
          output_index,
          item: { ...item, status: "in_progress", arguments: "" },
        });
        put("response.function_call_arguments.delta", { ...at, delta: item.arguments });
        put("response.function_call_arguments.done", { ...at, arguments: item.arguments });
      }
      put("response.output_item.done", { output_index, item });
    }
    put("response.completed", { response: response(about, "completed", items) });
    return pieces;
  },
  whole: (reply, about) => response(about, "completed", outputOf(reply, about)),
  error: openAiError,
};

interface Item {
  readonly id: string;
  readonly type: "message" | "function_call";
  readonly [field: string]: unknown;
}

function outputOf(reply: Reply, about: About): readonly Item[] {
  const message: Item = {
    id: `msg_${about.id}`,
    type: "message",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: reply.text ?? "", annotations: [] }],
  };
  const calls = callsOf(reply, about).map(
    ({ id, name, namespace, input }): Item => ({
      id: `fc_${id}`,
      type: "function_call",
      status: "completed",
      call_id: id,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      arguments: JSON.stringify(input),
    }),
  );
  return [...(reply.text === undefined ? [] : [message]), ...calls];
}

function response({ id, model }: About, status: string, output: readonly Item[]) {
  return {
    id: `resp_${id}`,
    object: "response",
    created_at: 1_700_000_000,
    status,
    model,
    output,
    parallel_tool_calls: true,
    usage:
      status === "completed"
        ? {
            input_tokens: usage.input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: usage.input + usage.output,
          }
        : null,
  };
}

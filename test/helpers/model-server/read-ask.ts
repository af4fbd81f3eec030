import type { Ask, Dialect } from "./reply.ts";

type Json = any;

interface Turn {
  readonly user: string | null;
  readonly results: readonly string[];
}

/** Reads what an agent asks. Nothing is refused: a strange message has no text. */
export function readAsk(
  dialect: Dialect,
  body: Json,
  from: { readonly model: string | null; readonly streams: boolean | null },
): Ask {
  const turns = readers[dialect](body);
  const prompts = turns.flatMap(({ user }) => (user === null ? [] : [user]));
  const last = turns.findLastIndex(({ user }) => user !== null);
  return {
    dialect,
    model: from.model ?? String(body.model ?? ""),
    streams: from.streams ?? body.stream === true,
    tools: toolNames(dialect, body),
    prompt: prompts.at(-1) ?? "",
    prompts,
    results: turns.slice(Math.max(0, last)).flatMap(({ results }) => results),
    body,
  };
}

const readers: Readonly<Record<Dialect, (body: Json) => readonly Turn[]>> = {
  "openai-chat": (body) =>
    listOf(body.messages).map((message) => {
      if (message.role === "tool") return { user: null, results: [textOf(message.content)] };
      return { user: message.role === "user" ? prompt(textOf(message.content)) : null, results: [] };
    }),
  "openai-responses": (body) => {
    if (typeof body.input === "string") return [{ user: body.input, results: [] }];
    return listOf(body.input).map((item) => {
      if (String(item.type).endsWith("_output")) return { user: null, results: [textOf(item.output)] };
      return { user: item.role === "user" ? prompt(textOf(item.content)) : null, results: [] };
    });
  },
  anthropic: (body) =>
    listOf(body.messages).map((message) => {
      if (message.role !== "user") return { user: null, results: [] };
      const blocks = typeof message.content === "string" ? [] : listOf(message.content);
      const results = blocks
        .filter(({ type }) => type === "tool_result")
        .map(({ content }) => textOf(content));
      // What stands beside a result is a remark of the agent's program, no prompt.
      return { user: results.length > 0 ? null : prompt(textOf(message.content)), results };
    }),
  gemini: (body) =>
    listOf(body.contents).map((content) => {
      if (content.role !== "user" && content.role !== "function") return { user: null, results: [] };
      const parts = listOf(content.parts);
      const results = parts
        .filter((part) => part.functionResponse)
        .map((part) => JSON.stringify(part.functionResponse.response));
      return { user: results.length > 0 ? null : prompt(textOf(parts)), results };
    }),
};

/** What agents put in front of a conversation or behind a prompt is no prompt of the user. */
function prompt(text: string): string | null {
  const own = text
    .replace(/<(system-reminder|environment_context|user_instructions|session_context)>[\s\S]*?<\/\1>/g, "")
    .trim();
  return own === "" ? null : own;
}

function textOf(content: Json): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((block) => (typeof block === "string" ? block : (block.text ?? "")))
    .filter((text) => text !== "")
    .join("\n");
}

function toolNames(dialect: Dialect, body: Json): readonly string[] {
  const tools = listOf(body.tools);
  if (dialect === "gemini")
    return tools.flatMap((tool) => listOf(tool.functionDeclarations).map(({ name }) => String(name)));
  return tools.map((tool) => String(tool.function?.name ?? tool.name ?? tool.type));
}

function listOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** The ways in which agents talk to models. */
export type Dialect = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

export interface ToolCall {
  readonly name: string;
  /** OpenAI responses: tools of servers stand in a namespace. */
  readonly namespace?: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What the model says next. Absent fields say nothing. */
export interface Reply {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly ToolCall[];
  /** Before the first byte of the answer. */
  readonly delayMs?: number;
  /** Text comes in pieces of so many characters (default 16), with a pause between them. */
  readonly pieceChars?: number;
  readonly pieceMs?: number;
  /** Refuses instead of an answer, in the dialect's own form. */
  readonly status?: 400 | 401 | 429 | 500;
  /** The answer begins and never goes on, until the agent hangs up. */
  readonly hangs?: boolean;
  /** The connection breaks in the middle of the answer. */
  readonly breaks?: boolean;
}

/** A request for an answer, whatever its dialect. */
export interface Ask {
  readonly dialect: Dialect;
  readonly model: string;
  readonly streams: boolean;
  /** Names of the tools that the agent offered. */
  readonly tools: readonly string[];
  /** Text of the last message of the user, without what agents put around it. */
  readonly prompt: string;
  /** Texts of all messages of the user, the oldest first. */
  readonly prompts: readonly string[];
  /** Results of tools since that message: one for each call that was answered. */
  readonly results: readonly string[];
  /** The body as it came. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Something that a test, or the table of agents, wants a model to do for a prompt. */
export interface Scene {
  /** Holds for prompts with this text in them. */
  readonly when: string;
  /** The first reply, the one after the first tool results, and so on; the last one again for whatever follows. */
  readonly steps: readonly (Reply | ((ask: Ask) => Reply))[];
}

/**
 * A model without a memory: which step of a scene comes next is told by how many rounds of tool results the request holds,
 * so that retries and questions that agents ask by the way change nothing.
 */
export function playScenes(scenes: readonly Scene[]): (ask: Ask) => Reply {
  return (ask) => {
    // The last words count: a conversation that is told again stands before them.
    const places = scenes.map(({ when }) => ask.prompt.lastIndexOf(when));
    const last = Math.max(-1, ...places);
    const scene = last < 0 ? undefined : scenes[places.indexOf(last)];
    if (!scene) return { text: "OK." };
    let done = 0;
    for (const step of scene.steps) {
      const reply = typeof step === "function" ? step(ask) : step;
      const calls = reply.calls?.length ?? 0;
      if (calls === 0 || ask.results.length < done + calls) return reply;
      done += calls;
    }
    return { text: "OK." };
  };
}

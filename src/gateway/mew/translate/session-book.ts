import type { MewUsage } from "../../../protocol/mew/values.ts";
import type { Agent } from "../../../protocol/objects.ts";
import type { EventOf } from "./parts.ts";
import { createVoice, type Voice } from "./voice.ts";

/** What is remembered of an agent at the top, from its first event until it is closed. */
export interface KnownSession {
  readonly voice: Voice;
  row: Agent | null;
  /** First line of the newest prompt. */
  prompt: string;
  usage: MewUsage | null;
  contextTokens: number | null;
  /** Its last turn failed or was cancelled. */
  failed: boolean;
  /** The newest list; null before the first, and since the context was cleared. */
  todos: EventOf<"todos">["todos"] | null;
}

export interface SessionBook {
  /** Of an agent that may be new. */
  of(agent: string): KnownSession;
  peek(agent: string): KnownSession | null;
  forget(agent: string): void;
  forgetTab(tab: string): void;
}

const noUsage: MewUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  cost: 0,
  turns: 0,
};

export function createSessionBook(): SessionBook {
  const sessions = new Map<string, KnownSession>();
  return {
    of(agent) {
      let session = sessions.get(agent);
      if (!session) {
        session = {
          voice: createVoice(agent),
          row: null,
          prompt: "",
          usage: null,
          contextTokens: null,
          failed: false,
          todos: null,
        };
        sessions.set(agent, session);
      }
      return session;
    },
    peek: (agent) => sessions.get(agent) ?? null,
    forget(agent) {
      sessions.delete(agent);
    },
    forgetTab(tab) {
      for (const [agent, { row }] of sessions) if (row?.tab === tab) sessions.delete(agent);
    },
  };
}

/** Adds what a model's answer used. */
export function addUsage(session: KnownSession, event: EventOf<"usage">): void {
  const sum = session.usage ?? noUsage;
  session.usage = {
    input_tokens: sum.input_tokens + event.input_tokens,
    output_tokens: sum.output_tokens + event.output_tokens,
    cache_read_tokens: sum.cache_read_tokens + event.cache_read_tokens,
    cache_write_tokens: sum.cache_write_tokens + event.cache_write_tokens,
    cost: sum.cost + (event.cost ?? 0),
    turns: sum.turns,
  };
  session.contextTokens = event.context_tokens ?? session.contextTokens;
}

/** Counts a turn that has ended; returns what all of them used. */
export function countTurn(session: KnownSession, event: EventOf<"turn_finished">): MewUsage {
  session.failed = event.outcome !== "done";
  const sum = session.usage ?? noUsage;
  session.usage = { ...sum, turns: sum.turns + 1 };
  return session.usage;
}

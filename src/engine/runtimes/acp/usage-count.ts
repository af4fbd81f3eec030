import type { AgentEventBody } from "../../../protocol/events.ts";
import { countOf, objectOf } from "./raw-values.ts";

type UsageEvent = Extract<AgentEventBody, { type: "usage" }>;
interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** What an agent tells of its tokens in one turn, in whichever of the ways that there are. */
export interface UsageCount {
  /** `usage_update`: the context so far, and what the whole session has cost. */
  takeUpdate(rawUpdate: unknown): void;
  /** `_meta.usage` of a message, once for each answer of the model. */
  takeMeta(rawMeta: unknown): void;
  /** `usage` of the answer to the prompt: the whole turn. */
  takeAnswer(rawAnswer: unknown): void;
  /** The record of the turn; null where nothing was told. */
  event(): UsageEvent | null;
}

/** @param costBefore what the session had cost before this turn; `onCost` is told of the new sum */
export function createUsageCount(costBefore: number, onCost: (cost: number) => void): UsageCount {
  let sum: Tokens | null = null;
  let whole: Tokens | null = null;
  let context: number | null = null;
  let contextByMeta: number | null = null;
  let cost: number | null = null;

  return {
    takeUpdate(rawUpdate) {
      const update = objectOf(rawUpdate);
      context = countOf(update.used) ?? context;
      const { amount } = objectOf(update.cost);
      if (typeof amount !== "number" || !Number.isFinite(amount) || amount < 0) return;
      cost = Math.max(0, amount - costBefore);
      onCost(amount);
    },
    takeMeta(rawMeta) {
      const tokens = readTokens(objectOf(rawMeta).usage);
      if (!tokens) return;
      contextByMeta = tokens.input + tokens.output;
      sum = {
        input: (sum?.input ?? 0) + tokens.input,
        output: (sum?.output ?? 0) + tokens.output,
        cacheRead: (sum?.cacheRead ?? 0) + tokens.cacheRead,
        cacheWrite: (sum?.cacheWrite ?? 0) + tokens.cacheWrite,
      };
    },
    takeAnswer(rawAnswer) {
      whole = readTokens(objectOf(rawAnswer).usage) ?? whole;
    },
    event() {
      const tokens = whole ?? sum;
      if (!tokens && context === null && cost === null) return null;
      return {
        type: "usage",
        input_tokens: tokens?.input ?? 0,
        output_tokens: tokens?.output ?? 0,
        cache_read_tokens: tokens?.cacheRead ?? 0,
        cache_write_tokens: tokens?.cacheWrite ?? 0,
        cost,
        context_tokens: context ?? contextByMeta,
      };
    },
  };
}

function readTokens(raw: unknown): Tokens | null {
  const usage = objectOf(raw);
  const input = countOf(usage.inputTokens ?? usage.promptTokens);
  const output = countOf(usage.outputTokens ?? usage.completionTokens);
  if (input === null && output === null) return null;
  return {
    input: input ?? 0,
    output: output ?? 0,
    cacheRead: countOf(usage.cachedReadTokens ?? usage.cachedTokens) ?? 0,
    cacheWrite: countOf(usage.cachedWriteTokens) ?? 0,
  };
}

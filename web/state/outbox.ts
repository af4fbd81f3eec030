import { type ReadonlySignal, signal } from "@preact/signals";
import { AnswerError } from "../../src/client/answer-error.ts";
import type { Client } from "../../src/client/live-client.ts";
import type { PromptInput, PromptOptions, PromptReceipt } from "../../src/client/prompt-outbox.ts";
import { randomHex } from "../../src/client/random.ts";
import { errorText } from "./error-text.ts";
import type { KeyValue } from "./key-value.ts";

/** A prompt that the daemon has not taken yet, or refused. */
export interface OutgoingPrompt {
  readonly prompt: PromptInput & { readonly request_id: string };
  readonly atMs: number;
  /** Why it was not taken; null while it is on its way or waits for a connection. */
  readonly problem: string | null;
}

export interface Outbox {
  /** Oldest first. */
  readonly items: ReadonlySignal<readonly OutgoingPrompt[]>;
  /** Sends once, now or when there is a connection, also after the page was loaded anew. Rejects when it was refused or withdrawn. */
  send(prompt: PromptInput): Promise<PromptReceipt>;
  /** Sends a refused one again, as a new prompt. */
  retry(requestId: string): void;
  /** Forgets a refused one, or one that was not sent yet. False: it is on its way. */
  withdraw(requestId: string): boolean;
  /** Sends what an earlier page could not. */
  resume(): Promise<void>;
}

const prefix = "outbox ";
/** Whoever opens the page after longer is asked before anything runs. */
const sendByItselfMs = 12 * 60 * 60_000;

/** Prompts that are kept in `store` until the daemon has them, each with an id under which it is accepted once. */
export function createOutbox(
  client: Pick<Client, "prompt" | "withdrawPrompt">,
  store: KeyValue,
  now: () => number = Date.now,
): Outbox {
  const items = signal<readonly OutgoingPrompt[]>([]);
  const keyOf = (requestId: string): string => prefix + requestId;

  function put(item: OutgoingPrompt): void {
    const id = item.prompt.request_id;
    const others = items.value.filter(({ prompt }) => prompt.request_id !== id);
    items.value = [...others, item].sort((a, b) => a.atMs - b.atMs);
    void store.set(keyOf(id), item);
  }
  function remove(requestId: string): void {
    items.value = items.value.filter(({ prompt }) => prompt.request_id !== requestId);
    void store.delete(keyOf(requestId));
  }

  async function deliver(item: OutgoingPrompt, options?: PromptOptions): Promise<PromptReceipt> {
    const id = item.prompt.request_id;
    put({ ...item, problem: null });
    try {
      const receipt = await client.prompt(item.prompt, options);
      remove(id);
      return receipt;
    } catch (error) {
      // Withdrawn, or the client stopped: in the first case it is gone already, in the second the next page sends it.
      if (error instanceof AnswerError) put({ ...item, problem: errorText(error) });
      throw error;
    }
  }

  return {
    items,
    send: (prompt) =>
      deliver({
        prompt: { ...prompt, request_id: prompt.request_id ?? randomHex(16) },
        atMs: now(),
        problem: null,
      }),
    retry(requestId) {
      const item = items.value.find(({ prompt }) => prompt.request_id === requestId);
      if (item === undefined || item.problem === null) return;
      remove(requestId);
      // A refused id keeps its refusal: the same words again are another prompt.
      const prompt = { ...item.prompt, request_id: randomHex(16) };
      deliver({ prompt, atMs: now(), problem: null }).catch(() => undefined); // Its item says why.
    },
    withdraw(requestId) {
      const item = items.value.find(({ prompt }) => prompt.request_id === requestId);
      if (item === undefined) return true;
      if (item.problem === null && !client.withdrawPrompt(requestId)) return false;
      remove(requestId);
      return true;
    },
    async resume() {
      for (const item of (await store.list(prefix)).filter(isOutgoing)) {
        if (items.value.some(({ prompt }) => prompt.request_id === item.prompt.request_id)) continue;
        if (item.problem !== null) put(item);
        else if (now() - item.atMs > sendByItselfMs)
          put({ ...item, problem: "This was written a while ago and may not have been sent." });
        else deliver(item, { mayHaveBeenSent: true }).catch(() => undefined); // Its item says why.
      }
    },
  };
}

/** Forgets all of them: they belong to a device that is no longer paired. */
export async function clearOutbox(store: KeyValue): Promise<void> {
  for (const item of (await store.list(prefix)).filter(isOutgoing))
    await store.delete(prefix + item.prompt.request_id);
}

function isOutgoing(raw: unknown): raw is OutgoingPrompt {
  if (typeof raw !== "object" || raw === null || !("prompt" in raw) || !("atMs" in raw)) return false;
  const { prompt } = raw;
  return typeof prompt === "object" && prompt !== null && "request_id" in prompt && "text" in prompt;
}

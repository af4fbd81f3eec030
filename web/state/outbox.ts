import { type ReadonlySignal, signal } from "@preact/signals";
import { AnswerError } from "../../src/client/answer-error.ts";
import type { Client } from "../../src/client/client.ts";
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

/** A browser that stores nothing in this time is not waited for. */
const maxStoreMs = 1_000;

/** Prompts that are kept in `store` until the daemon has them, each with an id under which it is accepted once. */
export function createOutbox(
  client: Pick<Client, "prompt" | "withdrawPrompt" | "ready">,
  store: KeyValue,
  now: () => number = Date.now,
): Outbox {
  const items = signal<readonly OutgoingPrompt[]>([]);
  /** Ids of those that an earlier page left, and that wait for the first connection here. */
  const held = new Set<string>();
  const keyOf = (requestId: string): string => prefix + requestId;
  const find = (requestId: string): OutgoingPrompt | undefined =>
    items.value.find(({ prompt }) => prompt.request_id === requestId);

  function show(item: OutgoingPrompt): void {
    const others = items.value.filter(({ prompt }) => prompt.request_id !== item.prompt.request_id);
    items.value = [...others, item].sort((a, b) => a.atMs - b.atMs);
  }
  function hide(requestId: string): void {
    items.value = items.value.filter(({ prompt }) => prompt.request_id !== requestId);
  }

  /** Says that something is kept only when it is: the page may be closed at any moment. */
  async function keep(item: OutgoingPrompt): Promise<void> {
    await atMost(maxStoreMs, store.set(keyOf(item.prompt.request_id), item));
    show(item);
  }
  /** And that it is gone only when no page will ever send it. */
  async function forget(requestId: string): Promise<void> {
    await atMost(maxStoreMs, store.delete(keyOf(requestId)));
    hide(requestId);
  }

  async function deliver(item: OutgoingPrompt, options?: PromptOptions): Promise<PromptReceipt> {
    const id = item.prompt.request_id;
    try {
      const receipt = await client.prompt(item.prompt, options);
      void forget(id);
      return receipt;
    } catch (error) {
      // Withdrawn, or the client stopped: in the first case it is gone already, in the second the next page sends it.
      if (error instanceof AnswerError) await keep({ ...item, problem: errorText(error) });
      throw error;
    }
  }
  async function sendNew(prompt: PromptInput): Promise<PromptReceipt> {
    const item: OutgoingPrompt = {
      prompt: { ...prompt, request_id: prompt.request_id ?? randomHex(16) },
      atMs: now(),
      problem: null,
    };
    await keep(item);
    return deliver(item);
  }

  return {
    items,
    send: sendNew,
    retry(requestId) {
      const item = find(requestId);
      if (item === undefined || item.problem === null) return;
      // A refused id keeps its refusal: the same words again are another prompt.
      const { request_id: _id, ...prompt } = item.prompt;
      sendNew(prompt).catch(() => undefined); // Its item says why.
      void forget(requestId);
    },
    withdraw(requestId) {
      const item = find(requestId);
      if (item === undefined) return true;
      const isOurs = item.problem !== null || held.delete(requestId);
      if (!isOurs && !client.withdrawPrompt(requestId)) return false;
      void forget(requestId);
      return true;
    },
    async resume() {
      for (const item of (await store.list(prefix)).filter(isOutgoing)) {
        const id = item.prompt.request_id;
        if (find(id) !== undefined) continue;
        const isOld = now() - item.atMs > sendByItselfMs;
        show(
          item.problem === null && isOld
            ? { ...item, problem: "This was written a while ago and may not have been sent." }
            : item,
        );
        if (item.problem === null && !isOld) held.add(id);
      }
      // Until then its person can still take it back.
      await client.ready();
      for (const item of items.value) {
        const id = item.prompt.request_id;
        // Another window of this page may have sent it, or taken it back.
        const isKept = (await store.get(keyOf(id))) !== undefined;
        if (!held.delete(id)) continue;
        if (isKept)
          deliver(item, { mayHaveBeenSent: true }).catch(() => undefined); // Its item says why.
        else hide(id);
      }
    },
  };
}

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, tooLong]);
  clearTimeout(timer);
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

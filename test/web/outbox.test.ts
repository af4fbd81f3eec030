import { describe, expect, it } from "vitest";
import { AnswerError, UnreachableError } from "../../src/client/answer-error.ts";
import type { PromptInput, PromptOptions, PromptReceipt } from "../../src/client/prompt-outbox.ts";
import type { Snapshot } from "../../src/protocol/changes.ts";
import type { KeyValue } from "../../web/state/key-value.ts";
import { clearOutbox, createOutbox } from "../../web/state/outbox.ts";

function fakeStore(
  values = new Map<string, unknown>(),
): KeyValue & { readonly values: Map<string, unknown> } {
  return {
    values,
    get: async (key) => values.get(key),
    set: async (key, value) => void values.set(key, structuredClone(value)),
    delete: async (key) => void values.delete(key),
    list: async (prefix) => [...values].filter(([key]) => key.startsWith(prefix)).map(([, value]) => value),
    isLasting: true,
  };
}

function fakeClient() {
  const sent: { prompt: PromptInput; options: PromptOptions | undefined }[] = [];
  const ends: { resolve: (receipt: PromptReceipt) => void; reject: (error: Error) => void }[] = [];
  return {
    sent,
    ends,
    client: {
      prompt(prompt: PromptInput, options?: PromptOptions) {
        sent.push({ prompt, options });
        return new Promise<PromptReceipt>((resolve, reject) => ends.push({ resolve, reject }));
      },
      withdrawPrompt: () => true,
      ready: async () => ({}) as Snapshot,
    },
  };
}
const settle = () => new Promise((resolve) => setTimeout(resolve));
const refusal = new AnswerError(409, { type: "error", code: "conflict", reason: "busy", message: "Busy." });
const receipt = { request_id: "k", agent: "a", turn: "t" };

describe("a prompt of the page", () => {
  it("is kept until the daemon has it", async () => {
    const store = fakeStore();
    const { client, ends } = fakeClient();
    const outbox = createOutbox(client, store, () => 5);
    const sending = outbox.send({ text: "ls", agent: "a" });
    await settle();
    expect([...store.values.values()]).toMatchObject([{ prompt: { text: "ls" }, problem: null, atMs: 5 }]);
    ends[0]?.resolve(receipt);
    await sending;
    await settle();
    expect(outbox.items.value).toEqual([]);
    expect(store.values.size).toBe(0);
  });

  it("that a closed page had not sent is sent by the next one, under the same id, as one that may have been sent", async () => {
    const store = fakeStore();
    const first = fakeClient();
    const sending = createOutbox(first.client, store, () => 5).send({ text: "ls" });
    await settle();
    first.ends[0]?.reject(new UnreachableError("The client was closed."));
    await expect(sending).rejects.toThrow("closed");
    const second = fakeClient();
    const outbox = createOutbox(second.client, store, () => 6);
    await Promise.all([outbox.resume(), outbox.resume()]);
    expect(second.sent).toEqual([{ prompt: first.sent[0]?.prompt, options: { mayHaveBeenSent: true } }]);
    second.ends[0]?.resolve(receipt);
    await settle();
    expect(store.values.size).toBe(0);
  });

  it("that a closed page left can be taken back until there is a connection, and then never runs", async () => {
    const store = fakeStore();
    await store.set("outbox k1", { prompt: { text: "rm -r x", request_id: "k1" }, atMs: 0, problem: null });
    const { client, sent } = fakeClient();
    let connect: () => void = () => undefined;
    const ready = new Promise<Snapshot>((resolve) => {
      connect = () => resolve({} as Snapshot);
    });
    const outbox = createOutbox(
      { ...client, withdrawPrompt: () => false, ready: () => ready },
      store,
      () => 1,
    );
    const resumed = outbox.resume();
    await settle();
    expect(outbox.items.value).toHaveLength(1);
    expect(outbox.withdraw("k1")).toBe(true);
    connect();
    await resumed;
    expect(sent).toEqual([]);
    expect(store.values.size).toBe(0);
  });

  it("is shown as taken back only when no later page can find it", async () => {
    let finish: () => void = () => undefined;
    const store = fakeStore();
    const slow: KeyValue = {
      ...store,
      delete: (key) =>
        new Promise((resolve) => {
          finish = () => resolve(store.delete(key));
        }),
    };
    const outbox = createOutbox(fakeClient().client, slow, () => 1);
    void outbox.send({ text: "rm -r x", request_id: "k1" });
    await settle();
    expect(outbox.withdraw("k1")).toBe(true);
    await settle();
    expect(outbox.items.value).toHaveLength(1);
    finish();
    await settle();
    expect(outbox.items.value).toEqual([]);
    expect(store.values.size).toBe(0);
  });

  it("of yesterday does not run by itself", async () => {
    const store = fakeStore();
    await store.set("outbox k1", { prompt: { text: "rm -r x", request_id: "k1" }, atMs: 0, problem: null });
    const { client, sent } = fakeClient();
    const outbox = createOutbox(client, store, () => 24 * 60 * 60_000);
    await outbox.resume();
    expect(sent).toEqual([]);
    expect(outbox.items.value[0]?.problem).toMatch("a while ago");
    outbox.retry("k1");
    await settle();
    expect(sent).toHaveLength(1);
    expect(sent[0]?.prompt.request_id).not.toBe("k1");
  });

  it("that was refused stays with the reason, and its words are not lost", async () => {
    const store = fakeStore();
    const { client, ends } = fakeClient();
    const outbox = createOutbox(client, store);
    const sending = outbox.send({ text: "ls" });
    await settle();
    ends[0]?.reject(refusal);
    await expect(sending).rejects.toBe(refusal);
    expect(outbox.items.value).toMatchObject([{ prompt: { text: "ls" }, problem: "Busy." }]);
    expect(outbox.withdraw(outbox.items.value[0]?.prompt.request_id ?? "")).toBe(true);
    await settle();
    expect(outbox.items.value).toEqual([]);
    expect(store.values.size).toBe(0);
  });

  it("is forgotten with the device, and what else is stored stays", async () => {
    const store = fakeStore();
    await store.set("outbox k1", { prompt: { text: "ls", request_id: "k1" }, atMs: 0, problem: null });
    await store.set("other", 1);
    await clearOutbox(store);
    expect([...store.values.keys()]).toEqual(["other"]);
  });

  it.each([null, 1, {}, { prompt: null, atMs: 0 }, { prompt: {}, atMs: 0 }])(
    "that was stored damaged is left alone: %j",
    async (damaged) => {
      const store = fakeStore(new Map<string, unknown>([["outbox x", damaged]]));
      const { client, sent } = fakeClient();
      await createOutbox(client, store).resume();
      expect(sent).toEqual([]);
    },
  );
});

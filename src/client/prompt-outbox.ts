import { AnswerError, UnreachableError } from "./answer-error.ts";
import type { Connection } from "./connection.ts";
import { type Deferred, deferred } from "./deferred.ts";
import { randomHex } from "./random.ts";
import type { CommandInputOf } from "./replies.ts";

/** A prompt as a caller writes it. Without `request_id` the client makes one. */
export type PromptInput = Omit<CommandInputOf<"prompt">, "type">;

/** The daemon has the prompt. `turn` is what it began, or will begin when it was queued. */
export interface PromptReceipt {
  readonly request_id: string;
  readonly agent: string;
  readonly turn: string;
}

export interface PromptOptions {
  /** The prompt may have been sent before (a page was loaded anew): its receipt is asked for first. Needs its `request_id`. */
  readonly mayHaveBeenSent?: boolean;
}

interface Kept {
  readonly command: CommandInputOf<"prompt"> & { readonly request_id: string };
  readonly receipt: Deferred<PromptReceipt>;
  mayHaveBeenSent: boolean;
}

/**
 * Prompts that have no receipt yet. Each is kept with its `request_id` until the daemon said that it has it: after a lost
 * connection the receipt is asked for before anything is sent again, and what is sent again carries the same id, so that
 * the daemon accepts it once.
 */
export interface PromptOutbox {
  /** Resolves with the receipt; rejects with the daemon's refusal. Waits for a connection as long as there is none. */
  add(prompt: PromptInput, options?: PromptOptions): Promise<PromptReceipt>;
  /** Sends what is kept, oldest first, until the connection is lost. */
  flush(connection: Pick<Connection, "command">): Promise<void>;
  /** Takes back a prompt that was certainly not sent yet; its promise rejects. False: it is too late, or there is none. */
  withdraw(requestId: string): boolean;
  /** The connection closed because a frame was too large: what was on its way must not be sent again. */
  dropTooLarge(): void;
  /** Nothing will be sent any more. */
  close(error: Error): void;
  /** Ids of the prompts that wait. */
  readonly waiting: readonly string[];
}

const maxKept = 100;

export function createPromptOutbox(): PromptOutbox {
  const kept: Kept[] = [];
  let closedWith: Error | null = null;
  let current: Pick<Connection, "command"> | null = null;

  function settle(item: Kept, finish: () => void): void {
    const index = kept.indexOf(item);
    if (index !== -1) kept.splice(index, 1);
    finish();
  }

  /** Sends one; false when the connection was lost and it stays. */
  async function deliver(connection: Pick<Connection, "command">, item: Kept): Promise<boolean> {
    const { request_id } = item.command;
    try {
      if (item.mayHaveBeenSent) {
        const known = await connection.command({ type: "receipt", request_id });
        if (known.status === "accepted") {
          const receipt = { request_id, agent: known.agent ?? "", turn: known.turn ?? "" };
          settle(item, () => item.receipt.resolve(receipt));
          return true;
        }
        if (known.status === "rejected") throw rejected(known.message);
      }
      item.mayHaveBeenSent = true;
      const { agent, turn } = await connection.command(item.command);
      settle(item, () => item.receipt.resolve({ request_id, agent, turn }));
      return true;
    } catch (error) {
      if (error instanceof UnreachableError) return false;
      settle(item, () => item.receipt.reject(error instanceof Error ? error : new Error(String(error))));
      return true;
    }
  }

  async function flush(connection: Pick<Connection, "command">): Promise<void> {
    // A round that is under way takes what was added meanwhile.
    if (current === connection) return;
    current = connection;
    for (let next = kept[0]; next !== undefined; next = kept[0])
      if (!(await deliver(connection, next)) || current !== connection) break;
    if (current === connection) current = null;
  }

  return {
    add(prompt, options = {}) {
      if (closedWith !== null) return Promise.reject(closedWith);
      if (kept.length >= maxKept)
        return Promise.reject(
          new UnreachableError(`${maxKept} prompts wait for the daemon already; this one was not taken.`),
        );
      const request_id = prompt.request_id ?? randomHex(16);
      const item: Kept = {
        command: { ...prompt, type: "prompt", request_id },
        receipt: deferred<PromptReceipt>(),
        mayHaveBeenSent: options.mayHaveBeenSent === true,
      };
      kept.push(item);
      return item.receipt.promise;
    },
    flush,
    withdraw(requestId) {
      const item = kept.find(({ command }) => command.request_id === requestId);
      if (item === undefined || item.mayHaveBeenSent) return false;
      settle(item, () => item.receipt.reject(new UnreachableError("The prompt was withdrawn.")));
      return true;
    },
    dropTooLarge() {
      const error = new AnswerError(413, {
        type: "error",
        code: "too_large",
        message: "The prompt is larger than the daemon takes; send smaller images.",
      });
      for (const item of kept.filter(({ mayHaveBeenSent }) => mayHaveBeenSent))
        settle(item, () => item.receipt.reject(error));
    },
    close(error) {
      closedWith = error;
      for (const item of [...kept]) settle(item, () => item.receipt.reject(error));
    },
    get waiting() {
      return kept.map(({ command }) => command.request_id);
    },
  };
}

function rejected(message: string | null): AnswerError {
  return new AnswerError(0, {
    type: "error",
    code: "conflict",
    message: message ?? "The daemon refused this prompt.",
  });
}

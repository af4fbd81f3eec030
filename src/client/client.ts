import type { Change, Snapshot } from "../protocol/changes.ts";
import { UnreachableError } from "./answer-error.ts";
import type { JobMore } from "./connection.ts";
import type { PromptInput, PromptOptions, PromptReceipt } from "./prompt-outbox.ts";
import type { CommandInput, ReplyTo } from "./replies.ts";
import type { StopReason } from "./what-next.ts";

export type ClientStatus =
  | { readonly phase: "connecting" }
  | { readonly phase: "live" }
  /** Comes back by itself after `retryInMs`; `message` says why it waits. */
  | { readonly phase: "waiting"; readonly retryInMs: number; readonly message: string }
  /** Does not come back. `message` is for the person who has to do something. */
  | { readonly phase: "stopped"; readonly reason: StopReason; readonly message: string };

/** A connection that lasts: comes back by itself, keeps the state current, and sends a prompt once. */
export interface Client {
  /** The daemon's state as far as it was heard; null before the first connection. */
  readonly state: Snapshot | null;
  readonly status: ClientStatus;
  /** Resolves with the state once there is one; rejects with `StoppedError` when the client stops. */
  ready(): Promise<Snapshot>;
  /** Each change once and in order, also those that were missed meanwhile; `state` holds it already. */
  onChange(listener: (change: Change, state: Snapshot) => void): () => void;
  /** The whole state is new: at the start, and when more was missed than the daemon keeps. */
  onSnapshot(listener: (state: Snapshot) => void): () => void;
  onStatus(listener: (status: ClientStatus) => void): () => void;
  /** More output of a job that this connection follows. */
  onJobMore(listener: (news: JobMore) => void): () => void;
  /**
   * Sends a command now. Throws `AnswerError` for a refusal, `UnreachableError` when there is no connection or it is lost
   * before the reply: whether the command was done is not known then.
   */
  command<C extends CommandInput>(command: C): Promise<ReplyTo<C["type"]>>;
  /** Sends a prompt exactly once, whatever happens to the connection; waits for one if need be. */
  prompt(prompt: PromptInput, options?: PromptOptions): Promise<PromptReceipt>;
  /** Takes back a prompt that was certainly not sent yet; its promise rejects. False: it is too late, or there is none. */
  withdrawPrompt(requestId: string): boolean;
  /** Ids of the prompts that have no receipt yet. */
  readonly unsentPrompts: readonly string[];
  /** The machine or page was asleep, or the network is back: looks at once instead of at the next turn. */
  wake(): void;
  /** Asks for the whole state: for what no change tells, as the scopes of one's own device. Nothing without a connection. */
  refresh(): void;
  close(): void;
}

/** The client has stopped for good; `reason` says whether to pair again, to ask somebody, or nothing. */
export class StoppedError extends UnreachableError {
  override readonly name = "StoppedError";
  readonly reason: StopReason;

  constructor(reason: StopReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

import type { By } from "../../protocol/objects.ts";
import { type PromptInput, plainInput } from "../attachments/prompt-input.ts";
import type { Streaming } from "../transcripts/streaming.ts";
import type { Transcript } from "../transcripts/transcript.ts";

/** One accepted prompt (or compaction), or one that is being accepted. */
export interface Turn {
  readonly id: string;
  /** `compact`: no prompt, the runtime sums up what was said. */
  readonly kind: "prompt" | "compact";
  readonly requestId: string | null;
  /** As it was sent. */
  readonly text: string;
  /** What it stands for; the plain text until that is worked out. */
  input: PromptInput;
  readonly by: By;
  /** Ends the turn; the reason says who ended it. */
  readonly controller: AbortController;
  /** Resolves when the turn has ended, or was never accepted. */
  readonly ended: Promise<void>;
  readonly markEnded: () => void;
  /** False while it is being written down: it may still be refused. */
  accepted: boolean;
}

/** Why a turn was ended from outside; the reason of its signal. */
export type TurnEndReason = "cancelled" | "shutdown";

/** What the process knows of an agent beside its document: made when the agent is first touched. */
export interface LiveAgent {
  readonly id: string;
  readonly transcript: Transcript;
  readonly streaming: Streaming;
  /** True once it was started or prompted in this process. */
  live: boolean;
  current: Turn | null;
  /** The reserved next turn. */
  next: Turn | null;
  closing: boolean;
  /** Rules that `allow_session` remembered. They end with the agent or the daemon. */
  sessionRules: readonly string[];
  /** Set once the transcript was looked at for turns that a crash left open. */
  recovery: Promise<void> | null;
  /** JSON of the row as last announced, without its time. */
  announcedRow: string;
}

/**
 * A turn that nothing is known of but its text: `input` is put in its place when commands are expanded and attachments read.
 */
export function createTurn(options: {
  readonly id: string;
  readonly kind?: Turn["kind"];
  readonly requestId: string | null;
  readonly text: string;
  readonly by: By;
}): Turn {
  let markEnded: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    markEnded = resolve;
  });
  return {
    kind: "prompt",
    ...options,
    input: plainInput(options.text),
    controller: new AbortController(),
    ended,
    markEnded,
    accepted: false,
  };
}

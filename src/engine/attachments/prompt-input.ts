import type { AttachmentLabel, PromptPart } from "./prompt-part.ts";

/** A prompt when everything that it stands for is known: commands expanded, attachments read. */
export interface PromptInput {
  /** The text alone. */
  readonly text: string;
  /** The text, then what is attached. */
  readonly parts: readonly PromptPart[];
  readonly attachments: readonly AttachmentLabel[];
  /** The daemon's own answer, where no runtime is asked (`/context`). */
  readonly answer: (() => Promise<string>) | null;
  /** Gives the memory of the attachments back. */
  release(): void;
}

/** A prompt that stands for nothing else: no command in it, nothing attached. */
export function plainInput(text: string): PromptInput {
  return { text, parts: [{ type: "text", text }], attachments: [], answer: null, release: () => undefined };
}

import type { ReadonlySignal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Agent, By } from "../../src/protocol/objects.ts";
import type { Expansions } from "./expansion.ts";

/** What the rows of a conversation need beside themselves. */
export interface Conversation {
  readonly expansions: Expansions;
  /** The agents that this one started, on the tab still. */
  readonly subagents: ReadonlySignal<readonly Agent[]>;
  /** Prompts are command lines, and output is all that they are for. */
  readonly isShell: ReadonlySignal<boolean>;
  /** The folder of its tab; null where it is on none. */
  readonly cwd: ReadonlySignal<string | null>;
  /** What one must know of what runs here; null where there is nothing to say. */
  readonly note: ReadonlySignal<string | null>;
  /** `you`, or the name of the device. */
  readonly nameOf: (by: By) => string;
}

export const ConversationContext = createContext<Conversation | null>(null);

/** Throws `TypeError` outside of a conversation. */
export function useConversation(): Conversation {
  const conversation = useContext(ConversationContext);
  if (conversation === null) throw new TypeError("This row needs a conversation around it.");
  return conversation;
}

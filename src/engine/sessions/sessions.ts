import type { CommandOf } from "../../protocol/commands.ts";
import type { Agent } from "../../protocol/objects.ts";
import type { Folder, SessionRow } from "../../protocol/rest-objects.ts";
import type { Actor } from "../actor.ts";
import type { PromptReceipt, ReceiptView } from "../receipts/prompt-receipt.ts";

export interface ProjectFolder {
  /** Real path. */
  readonly cwd: string;
  readonly sessions: number;
  /** Epoch milliseconds of the newest record of any of them; null for a tab without a session. */
  readonly usedMs: number | null;
}

export interface FilePreview {
  /** Relative to the session's folder. */
  readonly path: string;
  /** What is no UTF-8 is U+FFFD. */
  readonly text: string;
  readonly truncated: boolean;
}

/** What may be done to a conversation beside prompting it, whether or not it is on a tab. All throw `SallyportError`. */
export interface Sessions {
  /** Throws `not_found`. */
  get(id: string): Promise<SessionRow>;
  /** The newest sessions, without those of subagents. */
  list(max: number): Promise<readonly SessionRow[]>;
  /** Title, pin and archive marks. Throws `not_found`, `conflict` (busy: it is being closed), `disk_full`. */
  update(command: CommandOf<"session_update">, actor: Actor): Promise<SessionRow>;
  /** Makes a title of the first line of the first prompt. Throws `invalid_field` where there is none. */
  regenerateTitle(id: string, actor: Actor): Promise<string>;
  /** The agent goes on as if nothing had been said; the transcript stays. Throws `conflict` (busy). */
  clear(command: CommandOf<"clear">, actor: Actor): Promise<Agent>;
  /** Throws `not_supported`, `invalid_field`. */
  setThinking(command: CommandOf<"thinking">, actor: Actor): Promise<Agent>;
  /** A prompt whose `request_id` counts for the session, whoever sends it. */
  submit(command: CommandOf<"prompt"> & { readonly agent: string }, actor: Actor): Promise<PromptReceipt>;
  /** The receipt of such a prompt, once one that is being accepted now was accepted or refused. */
  receipt(session: string, requestId: string): Promise<ReceiptView>;
  /** Lets go of an idle agent until it is prompted again: it is not `live` then. Does nothing to a busy one. */
  unload(id: string): Promise<void>;
  /** The folders of all sessions and tabs, the one that was used last first. */
  projects(): Promise<readonly ProjectFolder[]>;
  /** Lists a folder at or below the session's; `path` is relative. Throws `not_found`, `path_refused`, `invalid_field`. */
  listFolder(query: { readonly session: string; readonly path: string }, actor: Actor): Promise<Folder>;
  /** The beginning of a regular file below the session's folder. Throws as `listFolder`. */
  previewFile(
    query: { readonly session: string; readonly path: string; readonly maxBytes: number },
    actor: Actor,
  ): Promise<FilePreview>;
}

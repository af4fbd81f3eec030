import type { WorkspaceRow } from "../protocol/objects.ts";
import type {
  ContextReport,
  Folder,
  ModelList,
  SessionList,
  SessionRow,
  Tool,
  Usage,
} from "../protocol/rest-objects.ts";
import type { Actor } from "./actor.ts";
import type { BrowseQuery } from "./browse/list-folder.ts";
import type { SessionFacts } from "./sessions/session-facts.ts";

export interface SessionListQuery {
  /** A folder as a client names it; a link to it is the same. */
  readonly cwd?: string;
  /** Default 50. */
  readonly limit?: number;
  readonly subagents?: boolean;
  readonly before?: string;
  readonly q?: string;
}

/** What there is to look up beside the state of a snapshot: saved sessions, usage, folders, tools. All throw `SallyportError`. */
export interface Library {
  listWorkspaces(): readonly WorkspaceRow[];
  /** Saved sessions, newest first. Throws `invalid_field`. */
  listSessions(query: SessionListQuery): Promise<SessionList>;
  /** Removes a transcript for good. Throws `not_found`, and `conflict` (`in_use`) while its agent is on a tab. */
  deleteSession(id: string, actor: Actor): Promise<void>;
  usage(days: number): Promise<Usage>;
  /** Folders below the browse root. Throws `invalid_field`, `not_found`, `path_refused`. */
  browse(query: BrowseQuery): Promise<Folder>;
  tools(): readonly Tool[];
  /** The runtimes and what they can use; it must be cheap. */
  models(): Readonly<ModelList>;
  /** What the next prompt of a tab's active agent goes into. Throws `not_found`. */
  context(tab: string): Promise<ContextReport>;
  /** Tokens in an agent's conversation, as its model counted them last; null where that is not known. */
  contextTokens(agent: string): Promise<number | null>;
  /** Writes the caches. */
  close(): Promise<void>;
}

/** What the engine itself asks of the saved sessions. */
export interface SessionLibrary {
  /** Throws `not_found`. */
  session(id: string): Promise<SessionRow>;
  newestSessions(max: number): Promise<readonly SessionRow[]>;
  /** Newest first. */
  allSessions(): Promise<readonly SessionFacts[]>;
}

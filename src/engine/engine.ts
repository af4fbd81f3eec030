import type { EngineSnapshot } from "../protocol/changes.ts";
import type { CommandOf } from "../protocol/commands.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { Agent, Job, JobOutput, Tab } from "../protocol/objects.ts";
import type { Actor } from "./actor.ts";
import type { Library } from "./library.ts";
import type { PromptReceipt, ReceiptView } from "./receipts/prompt-receipt.ts";
import type { Sessions } from "./sessions/sessions.ts";
import type { Places } from "./workspaces/places.ts";

/** The answer to `compact`. */
export interface CompactReceipt {
  readonly workspace: string;
  readonly tab: string;
  readonly agent: string;
  readonly turn: string;
}
export interface SessionPage {
  /** Transcript records (events without deltas), oldest first. */
  readonly records: readonly AgentEvent[];
  /** Pass as `before` for the page before this one; null at the beginning. */
  readonly before: number | null;
  /** Live events of this agent with `seq` up to this are already in the page or in `streaming`. */
  readonly seq: number;
  readonly streaming: {
    readonly message: string | null;
    readonly text: string;
    readonly thinking: string;
    readonly tools: readonly { readonly call_id: string; readonly output: string }[];
  } | null;
  readonly damaged_records: number;
}
export interface EngineCounts {
  readonly workspaces: number;
  readonly loaded_tabs: number;
  readonly running_agents: number;
  readonly running_jobs: number;
  readonly pending: number;
}

/** How a job was started: at once, or as a permission request because the device lacks `approve`. */
export type JobStartResult = { readonly job: Job } | { readonly request_id: string };

/**
 * The session and job engine behind both dialects. Every method that changes something calls `actor.assertLive()` at its
 * commit point and announces what it did on the change log before its promise resolves. All throw `SallyportError`.
 */
export interface Engine {
  /** Saved sessions, usage, folders, tools: what a client looks up beside the state of a snapshot. */
  readonly library: Library;
  /** Workspaces, tabs and `launch`. */
  readonly places: Places;
  /** What is done to a conversation beside prompting it: marks, titles, thinking, previews. */
  readonly sessions: Sessions;
  /** The snapshot of one workspace; without an id the last used. Throws `not_found`. */
  snapshot(workspaceId?: string): EngineSnapshot;
  counts(): EngineCounts;

  prompt(command: CommandOf<"prompt">, actor: Actor): Promise<PromptReceipt>;
  receipt(requestId: string, actor: Actor): ReceiptView;
  cancel(agentId: string, actor: Actor): Promise<void>;
  approve(command: CommandOf<"approve">, actor: Actor): Promise<void>;
  /** Answers a question of an agent: one answer for each of its parts, or `cancelled`. The first answer wins. */
  answer(command: CommandOf<"answer">, actor: Actor): Promise<void>;
  setMode(command: CommandOf<"mode">, actor: Actor): Promise<Tab>;
  startAgent(command: CommandOf<"agent_start">, actor: Actor): Promise<Agent>;
  /** Opens a saved session in the tab that holds it, else in a tab for its folder; not live before it is prompted. */
  openAgent(command: CommandOf<"agent_open">, actor: Actor): Promise<Agent>;
  activateAgent(command: CommandOf<"agent_activate">, actor: Actor): Promise<Agent>;
  setModel(command: CommandOf<"model">, actor: Actor): Promise<Agent>;
  /** Begins a turn that sums up the conversation; resolves when it was accepted. */
  compact(command: CommandOf<"compact">, actor: Actor): Promise<CompactReceipt>;
  closeAgent(agentId: string, actor: Actor): Promise<void>;
  createTab(command: CommandOf<"tab_create">, actor: Actor): Promise<Tab>;
  closeTab(tabId: string, actor: Actor): Promise<void>;

  startJob(command: CommandOf<"job_start">, actor: Actor): Promise<JobStartResult>;
  listJobs(): readonly Job[];
  /** Without `offset` and `tail`: the last 64 KiB. */
  readJob(read: { job: string; offset?: number; limit?: number; tail?: number }): Promise<JobOutput>;
  /** Calls `more` at most 10 times a second while the log grows, and once with `running: false`. Returns how to stop. */
  followJob(jobId: string, more: (size: number, running: boolean) => void): () => void;
  killJob(jobId: string, actor: Actor): Promise<void>;

  readSession(agentId: string, page: { before?: number; limit?: number }): Promise<SessionPage>;

  /** Ends turns and flushes transcripts; jobs go on. */
  close(): Promise<void>;
}

import type { MissedChanges, Snapshot } from "../protocol/changes.ts";
import type { Command, CommandType } from "../protocol/commands.ts";
import type { Awake, Job, JobOutput, Workspace, WorkspaceRow } from "../protocol/objects.ts";

type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;
/** A command as a caller writes it: the client adds `client_ref` itself. */
export type CommandInput = Without<Command, "client_ref">;
export type CommandInputOf<T extends CommandType> = Extract<CommandInput, { readonly type: T }>;

/** The reply to whatever has none of its own; it names what was made or touched. */
export interface Ack {
  readonly type: "ack";
  readonly workspace?: string;
  readonly tab?: string;
  readonly agent?: string;
  readonly job?: string;
  readonly request_id?: string;
  readonly [field: string]: unknown;
}

/** A prompt was taken: `turn` is what it began, or will begin when it was queued. */
export interface PromptAck {
  readonly type: "ack";
  readonly request_id?: string;
  readonly status: "accepted";
  readonly workspace: string;
  readonly tab: string;
  readonly agent: string;
  readonly turn: string;
}

export interface ReceiptReply {
  readonly type: "receipt";
  readonly request_id: string;
  readonly status: "accepted" | "rejected" | "unknown";
  readonly agent: string | null;
  readonly turn: string | null;
  readonly message: string | null;
}

/** Replies that are no `ack`. A device without `approve` gets an ack with a `request_id` for its `job_start`. */
interface OwnReplies {
  prompt: PromptAck;
  receipt: ReceiptReply;
  snapshot: Snapshot | MissedChanges;
  ping: { readonly type: "pong"; readonly at: string };
  job_start: { readonly type: "job_started"; readonly job: Job } | Ack;
  job_list: { readonly type: "jobs"; readonly jobs: readonly Job[] };
  job_output: JobOutput;
  workspace_list: { readonly type: "workspaces"; readonly workspaces: readonly WorkspaceRow[] };
  workspace_open: { readonly type: "workspace_opened"; readonly workspace: Workspace };
  launch: {
    readonly type: "launched";
    readonly workspace: string;
    readonly tab: string;
    readonly agent?: string;
  };
  control_permissions: {
    readonly type: "control";
    readonly available: boolean;
    readonly permissions: readonly string[];
  };
  keep_awake: { readonly type: "awake" } & Awake;
}

/** What a command of type `T` is answered with. More fields may be there than are named. */
export type ReplyTo<T extends string> = T extends keyof OwnReplies ? OwnReplies[T] : Ack;

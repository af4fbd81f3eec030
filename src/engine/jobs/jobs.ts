import type { Job, JobOutput } from "../../protocol/objects.ts";

export interface JobSpec {
  /** Run by `/bin/sh -c`. */
  readonly command: string;
  readonly cwd: string;
  readonly workspace: string | null;
  readonly tab: string | null;
  readonly agent: string | null;
}

/** A foreground call of a turn: the same process machinery as a job, but it ends with the turn and with the daemon. */
export interface CallSpec {
  readonly command: string;
  readonly cwd: string;
  /** Called with new output, coalesced; text over the rate or size bound is replaced by a marker that counts it. */
  readonly onOutput: (text: string) => void;
  /** Ends the whole process tree: SIGTERM, SIGKILL after 3 s. */
  readonly signal: AbortSignal;
  /** Clients see it among the jobs, and may end it; without it nobody does. */
  readonly listed?: CallListing;
}
/** A call as a job: it still ends with its turn and with the daemon, and it is kept as one that has ended. */
export interface CallListing extends Pick<JobSpec, "workspace" | "tab" | "agent"> {
  /** The command as it may be shown. */
  readonly command: string;
  /** Asked when it has ended: true where its output must not be kept. */
  readonly isSecret: () => boolean;
}
export interface CallResult {
  /** The shell's `$?`; null when the process could not be started or was lost. */
  readonly exitCode: number | null;
  /** Head and tail of the output, bounded. */
  readonly output: string;
  readonly cancelled: boolean;
  readonly error: string | null;
}

export interface JobRead {
  readonly job: string;
  readonly offset?: number;
  readonly limit?: number;
  readonly tail?: number;
}

/** Background processes that outlive the daemon (docs/adr/0004). All throw `SallyportError`. */
export interface Jobs {
  /** Starts a process group of its own whose output goes straight to `jobs/<id>.log`. A command that cannot start: `state: "failed"`. */
  start(spec: JobSpec, beforeSpawn?: () => void): Promise<Job>;
  list(): readonly Job[];
  get(id: string): Job | null;
  read(read: JobRead): Promise<JobOutput>;
  follow(id: string, more: (size: number, running: boolean) => void): () => void;
  /** SIGTERM to the group and to descendants that left it, SIGKILL after 3 s. Resolves when the job has ended. Killing an ended job resolves with it as it is. */
  kill(id: string, beforeSignal?: () => void): Promise<Job>;
  runCall(spec: CallSpec): Promise<CallResult>;
  runningCount(): number;
  /** Called on every change of state, in order; `finished` has the final object. */
  onChange(listener: (kind: "started" | "finished", job: Job) => void): () => void;
  /** Stops watching; running jobs go on, foreground calls are ended. */
  close(): Promise<void>;
}

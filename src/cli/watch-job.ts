import { AnswerError, UnreachableError } from "../client/answer-error.ts";
import type { Connection } from "../client/connection.ts";
import type { Job, JobOutput } from "../protocol/objects.ts";

/** News of one job: it has more output, or has ended. */
export interface JobWatch {
  /** The job as it was when it was first seen. */
  readonly job: Job;
  /** The job as it ended; null while it runs. */
  readonly ended: Job | null;
  /** Resolves at the next news, or after `fallbackMs`. Rejects when the daemon has gone. */
  news(): Promise<void>;
  stop(): void;
}

/** A look now and then, in case that what was to tell us was dropped on the way. */
const fallbackMs = 2_000;

/**
 * Starts a job, or takes one that is there, and follows it over `connection`. It listens before it starts, because a short
 * job may have ended before the reply is read.
 */
export async function watchJob(connection: Connection, begin: () => Promise<Job>): Promise<JobWatch> {
  const finished = new Map<string, Job>();
  let id: string | null = null;
  let gone = false;
  let fresh = true;
  let wake: () => void = () => undefined;
  const silence = connection.onBroadcast((message) => {
    if (message.type === "job_finished") {
      if (id === null || message.job.id === id) finished.set(message.job.id, message.job);
    } else if (message.type === "job_more" ? message.job !== id : message.type !== "lagged") return;
    fresh = true;
    wake();
  });
  connection.closed.then(() => {
    gone = true;
    wake();
  });
  const job = await begin();
  id = job.id;
  let ended: Job | null = job.state === "running" ? (finished.get(job.id) ?? null) : job;
  await connection.command({ type: "job_follow", job: job.id, on: true }).catch((error: unknown) => {
    // A job that has ended meanwhile needs no following.
    if (!(error instanceof AnswerError)) throw error;
  });
  return {
    job,
    get ended() {
      ended ??= finished.get(job.id) ?? null;
      return ended;
    },
    async news() {
      if (!fresh && !gone) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, fallbackMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = () => undefined;
      }
      ended ??= finished.get(job.id) ?? null;
      if (gone && ended === null)
        throw new UnreachableError(
          `The daemon went away; the job goes on. Later: sallyport jobs output ${job.id}`,
        );
      if (!fresh && ended === null) ended = await endedJob(connection, job.id);
      fresh = false;
    },
    stop: silence,
  };
}

/** Reads a chunk of output over the socket. */
export async function readJobOutput(connection: Connection, job: string, offset: number): Promise<JobOutput> {
  return connection.command({ type: "job_output", job, offset });
}

async function endedJob(connection: Connection, id: string): Promise<Job | null> {
  const { jobs } = await connection.command({ type: "job_list" });
  return jobs.find((job) => job.id === id && job.state !== "running") ?? null;
}

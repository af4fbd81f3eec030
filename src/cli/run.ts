import type { Connection } from "../client/connection.ts";
import type { Job, JobOutput } from "../protocol/objects.ts";
import { type CliError, describeFailure, exitCodes, failedError, usageError } from "./cli-error.ts";
import type { Call, CommandSpec } from "./command.ts";
import { openJobLog } from "./job-log.ts";
import { createLogFilter } from "./log-filter.ts";
import { shellLine } from "./quote.ts";
import { openSession, tabOption } from "./session.ts";
import type { Target } from "./target.ts";
import { inline } from "./text.ts";
import { type JobWatch, readJobOutput, watchJob } from "./watch-job.ts";

export const runCommand: CommandSpec = {
  usage: "run [command...]",
  about:
    "Run COMMAND as a job, with its output here and its exit code as ours (125 if we fail ourselves). One word is a shell line; several are quoted word by word. Ctrl-C kills the job (130), a second one leaves it running.",
  examples: ["sallyport run -- npm test", "sallyport run --tab . -- 'make && make check'"],
  options: [
    { flags: "--tab <dir>", about: "the folder to run in; without it the daemon's active tab" },
    { flags: "--json", about: "print one event a line: job_started, job_output, job_finished" },
  ],
  passThrough: true,
  anywhere: true,
  async run(call) {
    if (call.words.length === 0)
      throw usageError("Name a command after --, as in: sallyport run -- npm test");
    try {
      return await runJob(call, shellLine(call.words));
    } catch (error) {
      const failure = describeFailure(error);
      if (failure.exitCode === exitCodes.usage) throw error;
      // Where nobody reads stdout any more, stderr still has a reader.
      if (call.json) await call.out.json(failure.body).catch(() => undefined);
      await call.out.note(`sallyport: ${failure.message}`);
      return exitCodes.runFailed;
    }
  },
};

async function runJob(call: Call, command: string): Promise<number> {
  const { connection, target } = await openSession(call);
  try {
    const tab = await tabOption(call, connection);
    const watch = await watchJob(connection, () => startJob(connection, command, tab));
    const { job } = watch;
    const interrupts = handleInterrupts(call, connection, job.id);
    try {
      if (call.json) await putJson(call, job.id, { type: "job_started", job });
      const work = call.json
        ? printEvents(call, target, job.id, watch)
        : copyLog(call, target, connection, job.id, watch);
      const ended = await Promise.race([work, interrupts.left]);
      watch.stop();
      return ended === null ? exitCodes.interrupted : await report(call, ended, interrupts.killed());
    } finally {
      interrupts.stop();
    }
  } finally {
    connection.close();
  }
}

async function startJob(connection: Connection, command: string, tab: string | null): Promise<Job> {
  const reply = await connection.command({ type: "job_start", command, ...(tab === null ? {} : { tab }) });
  if (reply.type === "job_started") return reply.job as Job;
  throw failedError(
    "The job waits for an approval. Answer it on a device that may approve, then: sallyport jobs",
  );
}

/** Copies the log to stdout: to a file or pipe as it is, to a terminal without what could steer it. */
async function copyLog(
  call: Call,
  target: Target,
  connection: Connection,
  id: string,
  watch: JobWatch,
): Promise<Job> {
  const { stdout } = call.io;
  const log = await openJobLog(target.local === null ? null : call.paths.jobs, id, (offset) =>
    readJobOutput(connection, id, offset),
  );
  const decoder = new TextDecoder();
  const filter = createLogFilter({ colours: true });
  const put = (data: string | Uint8Array): Promise<void> =>
    stdout.write(data).catch(() => {
      throw unread(id);
    });
  try {
    for (;;) {
      const { ended } = watch;
      const bytes = await log.next();
      if (bytes.byteLength > 0)
        await put(stdout.isTerminal ? filter.push(decoder.decode(bytes, { stream: true })) : bytes);
      else if (ended !== null) {
        if (stdout.isTerminal) await put(filter.push(decoder.decode()) + filter.end());
        return ended;
      } else await watch.news();
    }
  } finally {
    await log.close();
  }
}

async function printEvents(call: Call, target: Target, id: string, watch: JobWatch): Promise<Job> {
  let offset = 0;
  for (;;) {
    const { ended } = watch;
    const chunk = await target.rest.body<JobOutput>("GET", `/api/jobs/${id}/output?offset=${offset}`);
    offset = chunk.next_offset;
    if (chunk.output !== "" || chunk.done) await putJson(call, id, chunk);
    if (ended !== null && chunk.output === "") {
      await putJson(call, id, { type: "job_finished", job: ended });
      return ended;
    }
    if (chunk.output === "") await watch.news();
  }
}

function putJson(call: Call, id: string, value: unknown): Promise<void> {
  return call.out.json(value).catch(() => {
    throw unread(id);
  });
}

function unread(id: string): CliError {
  return failedError(`Nobody reads the output any more; the job goes on. End it: sallyport jobs kill ${id}`);
}

async function report(call: Call, job: Job, wasInterrupted: boolean): Promise<number> {
  if (job.state !== "exited")
    await call.out.note(
      `sallyport: the job ${job.state === "failed" ? "could not start" : job.state === "lost" ? "was lost: how it ended is not known" : "was killed"}${job.reason === null ? "" : ` (${inline(job.reason)})`}. Its output: sallyport jobs output ${job.id}`,
    );
  return wasInterrupted ? exitCodes.interrupted : jobExitCode(job);
}

/** The job's own code; 125 where there is none, 137 for one that was killed without telling. */
export function jobExitCode(job: Job): number {
  if (job.exit_code !== null && job.exit_code >= 0 && job.exit_code <= 255) return job.exit_code;
  return job.state === "killed" ? 137 : exitCodes.runFailed;
}

interface Interrupts {
  /** Resolves (null) when the person leaves and the job goes on. */
  readonly left: Promise<null>;
  killed(): boolean;
  stop(): void;
}

/** First Ctrl-C: the job is killed. Second, or the terminal goes away: we leave, and the job goes on. */
function handleInterrupts(call: Call, connection: Connection, id: string): Interrupts {
  let asked = false;
  let leave: (value: null) => void = () => undefined;
  const left = new Promise<null>((resolve) => {
    leave = resolve;
  });
  const goAway = (): void => {
    call.out
      .note(
        `sallyport: the job goes on. Its output: sallyport jobs output ${id} --follow   End it: sallyport jobs kill ${id}`,
      )
      .finally(() => leave(null));
  };
  const stops = [
    call.io.onSignal("SIGINT", () => {
      if (asked) {
        goAway();
        return;
      }
      asked = true;
      void call.out.note("sallyport: ending the job. Ctrl-C again leaves it running.");
      connection.command({ type: "job_kill", job: id }).catch(goAway);
    }),
    call.io.onSignal("SIGTERM", goAway),
    call.io.onSignal("SIGHUP", goAway),
  ];
  return {
    left,
    killed: () => asked,
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}

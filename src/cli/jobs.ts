import type { Job, JobOutput } from "../protocol/objects.ts";
import { exitCodes, usageError } from "./cli-error.ts";
import { type Call, type CommandSpec, isOn, textOption } from "./command.ts";
import { createLogFilter, type LogFilter } from "./log-filter.ts";
import { table } from "./printer.ts";
import { openSession } from "./session.ts";
import { requireTarget } from "./target.ts";
import { byteSize, inline, shortTime } from "./text.ts";
import { watchJob } from "./watch-job.ts";

const maxTailLines = 100_000;

const listJobs: CommandSpec = {
  usage: "list",
  about: "List the jobs, newest first.",
  examples: ["sallyport jobs list --json"],
  json: true,
  anywhere: true,
  run: list,
};

const jobOutput: CommandSpec = {
  usage: "output <id>",
  about: "Print a job's output: its last 64 KiB, or the last --tail lines; with --follow until it ends.",
  examples: ["sallyport jobs output 3fa9c210 --tail 100", "sallyport jobs output 3fa9c210 --follow"],
  json: true,
  anywhere: true,
  options: [
    { flags: "--tail <lines>", about: "this many lines from the end" },
    { flags: "--follow", about: "go on until the job has ended" },
  ],
  run: output,
};

const killJob: CommandSpec = {
  usage: "kill <id>",
  about: "End a job and all that it started: SIGTERM, then SIGKILL after 3 s.",
  examples: ["sallyport jobs kill 3fa9c210"],
  json: true,
  anywhere: true,
  async run(call) {
    const { rest } = await requireTarget(call);
    const job = call.words[0] ?? "";
    const reply = await rest.body("POST", "/api/command", { type: "job_kill", job });
    if (call.json) await call.out.json(reply);
    else await call.out.line(`Job ${inline(job)} is ended. Its output: sallyport jobs output ${inline(job)}`);
    return exitCodes.done;
  },
};

export const jobsCommand: CommandSpec = {
  usage: "jobs",
  about: "The jobs of this machine. Without a further word: list them.",
  examples: ["sallyport jobs", "sallyport jobs output 3fa9c210 --follow"],
  json: true,
  anywhere: true,
  children: [listJobs, jobOutput, killJob],
  run: list,
};

async function list(call: Call): Promise<number> {
  const { rest } = await requireTarget(call);
  const answer = await rest.body<{ jobs: readonly Job[] }>("GET", "/api/jobs");
  if (call.json) {
    await call.out.json(answer);
    return exitCodes.done;
  }
  if (answer.jobs.length === 0) {
    await call.out.line("No jobs. Start one: sallyport run -- COMMAND");
    return exitCodes.done;
  }
  await call.out.line(
    table([
      ["JOB", "STATE", "STARTED", "OUTPUT", "FOLDER", "COMMAND"],
      ...answer.jobs.map((job) => [
        inline(job.id),
        stateText(job),
        shortTime(job.started),
        byteSize(job.bytes),
        inline(job.cwd),
        inline(job.command),
      ]),
    ]),
  );
  return exitCodes.done;
}

/** `running`, `exited 0`, `killed`, … */
export function stateText(job: Job): string {
  return job.state === "exited" ? `exited ${job.exit_code ?? "?"}` : job.state;
}

async function output(call: Call): Promise<number> {
  const id = call.words[0] ?? "";
  const tail = tailOption(call);
  if (isOn(call, "follow")) {
    if (call.json) throw usageError("--json prints one value; --follow has no end. Use one of them.");
    return follow(call, id, tail);
  }
  const { rest } = await requireTarget(call);
  const chunk = await rest.body<JobOutput>("GET", outputPath(id, tail));
  if (call.json) await call.out.json(chunk);
  else {
    const filter = logFilter(call);
    await call.io.stdout.write(filter.push(chunk.output) + filter.end());
  }
  return exitCodes.done;
}

async function follow(call: Call, id: string, tail: number | null): Promise<number> {
  const { target, connection } = await openSession(call);
  try {
    const filter = logFilter(call);
    let chunk = await target.rest.body<JobOutput>("GET", outputPath(id, tail));
    const { jobs } = await target.rest.body<{ jobs: readonly Job[] }>("GET", "/api/jobs");
    const job = jobs.find((known) => known.id === id);
    const watch = job ? await watchJob(connection, async () => job) : null;
    for (;;) {
      const ended = watch === null ? chunk.done : watch.ended !== null;
      await call.io.stdout.write(filter.push(chunk.output));
      if (chunk.done || (ended && chunk.output === "")) break;
      if (chunk.output === "") await watch?.news();
      chunk = await target.rest.body<JobOutput>(
        "GET",
        `/api/jobs/${encodeURIComponent(id)}/output?offset=${chunk.next_offset}`,
      );
    }
    watch?.stop();
    await call.io.stdout.write(filter.end());
    return exitCodes.done;
  } finally {
    connection.close();
  }
}

function outputPath(id: string, tail: number | null): string {
  return `/api/jobs/${encodeURIComponent(id)}/output${tail === null ? "" : `?tail=${tail}`}`;
}

function tailOption(call: Call): number | null {
  const raw = textOption(call, "tail");
  if (raw === null) return null;
  const lines = Number(raw);
  if (!/^\d+$/.test(raw) || lines < 1 || lines > maxTailLines)
    throw usageError(`--tail takes a number of lines from 1 to ${maxTailLines}, as in: --tail 100`);
  return lines;
}

function logFilter(call: Call): LogFilter {
  return createLogFilter({ colours: call.io.stdout.isTerminal });
}

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { newJobId } from "../../../lib/ids.ts";
import { acpLimits } from "./acp-limits.ts";
import { type Pipe, watchPipes } from "./closed-pipes.ts";
import { watchdogArguments } from "./watchdog.ts";

export interface AgentProcessSpec {
  /** The program's absolute path, then its arguments. */
  readonly words: readonly string[];
  readonly cwd: string;
  /** Its whole environment, without the mark. */
  readonly environment: Readonly<Record<string, string>>;
}

const lastWordsMs = 1_000;

/** An agent's process with all that it started. */
export interface AgentProcess {
  readonly input: Writable;
  readonly output: Readable;
  /** Resolves with the agent's exit status (null: unknown, it was killed with its watchdog) when it has ended and its last words were read. */
  readonly gone: Promise<number | null>;
  /** Resolves when it has closed a pipe and lives on: it can do nothing for us any more (Linux). */
  readonly deaf: Promise<Pipe>;
  /** Resolves when nothing is left of it and of what it started. */
  readonly ended: Promise<void>;
  /** True when it has certainly ended, though its watchdog may not have come to say so yet. Looked up now (Linux). */
  hasEnded(): boolean;
  /** The end of what it wrote to stderr. */
  errors(): string;
  /** Ends its input and the whole tree: SIGTERM, SIGKILL after three seconds. Resolves when it is gone. */
  stop(): Promise<void>;
}

/** Starts an agent under its watchdog, in a session and process group of its own. Rejects when the system refuses. */
export async function startAgentProcess(spec: AgentProcessSpec): Promise<AgentProcess> {
  const child = spawn("/bin/sh", watchdogArguments(newJobId(), spec.words), {
    cwd: spec.cwd,
    env: { ...spec.environment },
    detached: true,
    stdio: ["pipe", "pipe", "pipe", "pipe", "pipe"],
  });
  await started(child);
  const { stdin, stdout, stderr } = child;
  const leash = child.stdio[3] as Writable | null;
  const statusPipe = child.stdio[4] as Readable | null;
  if (!stdin || !stdout || !stderr || !leash || !statusPipe)
    throw new TypeError("a child with pipes has pipes");
  // A broken pipe is seen by the end of the process.
  for (const stream of [stdin, stdout, stderr, leash, statusPipe]) stream.on("error", () => undefined);

  let errors = Buffer.alloc(0);
  stderr.on("data", (chunk: Buffer) => {
    const joined = Buffer.concat([errors, chunk.subarray(-acpLimits.stderrBytes)]);
    errors = joined.subarray(-acpLimits.stderrBytes);
  });
  let status = "";
  const told = new Promise<void>((resolve) => {
    statusPipe.on("data", (chunk: Buffer) => {
      if (status.length < 16) status += chunk.toString("latin1");
      if (status.includes("\n")) resolve();
    });
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  // Its watchdog tells the status first and then looks for what the agent left behind.
  const gone = Promise.race([told, exited.then(() => finished(statusPipe))]).then(async () => {
    // What it said last is still read; a process that escaped with its output in hand does not hold us up.
    await finished(stdout);
    return /^\d{1,3}\n$/.test(status) ? Number(status) : null;
  });
  const ended = exited.then(async () => {
    await gone;
    for (const stream of [stdin, stdout, stderr, leash, statusPipe]) stream.destroy();
  });
  const deaf = new Promise<Pipe>((resolve) => {
    const stopLooking = child.pid === undefined ? null : watchPipes(child.pid, resolve);
    if (stopLooking) void exited.then(stopLooking);
  });
  let stopping: Promise<void> | null = null;

  async function stop(): Promise<void> {
    stdin?.destroy();
    leash?.destroy();
    const timer = setTimeout(() => killGroup(child), acpLimits.stopMs);
    await ended;
    clearTimeout(timer);
  }

  return {
    input: stdin,
    output: stdout,
    gone,
    deaf,
    ended,
    hasEnded: () => child.pid !== undefined && livingChildren(child.pid) < agentAndGuard,
    errors: () => errors.toString("utf8"),
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** What the watchdog has while its agent lives. */
const agentAndGuard = 2;

/** Infinity where the system does not tell. */
function livingChildren(pid: number): number {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ");
    return children.filter((each) => each !== "" && !isZombie(each)).length;
  } catch {
    // Another system, or the watchdog itself is gone, which is told by its end.
    return Number.POSITIVE_INFINITY;
  }
}

function isZombie(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .startsWith("Z");
  } catch {
    return true;
  }
}

function finished(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.readableEnded || stream.destroyed) return resolve();
    const timer = setTimeout(resolve, lastWordsMs);
    for (const event of ["end", "close", "error"])
      stream.once(event, () => {
        clearTimeout(timer);
        resolve();
      });
  });
}

/** The leader was not waited for yet, so its number is still its own. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
}

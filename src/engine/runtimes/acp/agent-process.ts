import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { newJobId } from "../../../lib/ids.ts";
import { acpLimits } from "./acp-limits.ts";
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
  /** Resolves with the agent's exit status (null: unknown, it was killed with its watchdog) when nothing of it is left. */
  readonly ended: Promise<number | null>;
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
  statusPipe.on("data", (chunk: Buffer) => {
    if (status.length < 16) status += chunk.toString("latin1");
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const ended = exited.then(async () => {
    // What it said last is still read; a process that escaped with its output in hand does not hold us up.
    await Promise.all([finished(statusPipe), finished(stdout)]);
    for (const stream of [stdin, stdout, stderr, leash, statusPipe]) stream.destroy();
    return /^\d{1,3}\n$/.test(status) ? Number(status) : null;
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
    ended,
    errors: () => errors.toString("utf8"),
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
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

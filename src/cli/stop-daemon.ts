import { setTimeout as delay } from "node:timers/promises";
import { AnswerError } from "../client/answer-error.ts";
import type { Rest } from "../client/rest.ts";
import { lockHolder } from "../daemon/lock.ts";
import { isRunning, type ProcessIdentity, readProcessIdentity } from "../lib/process-identity.ts";
import { failedError, noDaemonError } from "./cli-error.ts";
import type { Call } from "./command.ts";
import { type DaemonLink, findDaemon } from "./find-daemon.ts";

const stopTimeoutMs = 15_000;
const pollMs = 30;

export interface StopOptions {
  readonly force: boolean;
  /** The daemon then keeps address and exposure for the one that follows. */
  readonly restart: boolean;
}

/**
 * Stops the daemon and waits until its process is gone. Yields the answer of the daemon. One that holds the home but does
 * not answer is ended with SIGTERM if `force` says so.
 */
export async function stopDaemon(call: Call, options: StopOptions): Promise<unknown> {
  const found = await findDaemon(call.paths, call.io.env);
  if (found.state === "running") return stopByRequest(call, found.link, options);
  const holder = await lockHolder(call.paths.home);
  if (holder === null) throw noDaemonError(found.message);
  if (!options.force)
    throw failedError(
      `The daemon (pid ${holder.pid}) does not answer. End it: sallyport daemon stop --force`,
    );
  process.kill(holder.pid, "SIGTERM");
  await waitUntilGone(call, holder);
  return { type: "ack" };
}

async function stopByRequest(call: Call, link: DaemonLink, options: StopOptions): Promise<unknown> {
  const identity = await readProcessIdentity(link.file.pid);
  const answer = await requestStop(link.rest, options);
  if (identity !== null) await waitUntilGone(call, identity);
  return answer;
}

/** Asks the daemon to stop; yields its answer, which comes before its end. */
export async function requestStop(rest: Rest, options: StopOptions): Promise<unknown> {
  try {
    return await rest.body("POST", "/api/daemon/stop", {
      ...(options.force ? { force: true } : {}),
      ...(options.restart ? { restart: true } : {}),
    });
  } catch (error) {
    if (!(error instanceof AnswerError) || error.body.reason !== "running") throw error;
    // Jobs survive a restart, so they alone are no reason to ask.
    if (options.restart && error.body.agents === 0) return requestStop(rest, { ...options, force: true });
    throw stillRunning(error, options);
  }
}

async function waitUntilGone(call: Call, identity: ProcessIdentity): Promise<void> {
  const giveUpAt = call.io.now() + stopTimeoutMs;
  while (await isRunning(identity)) {
    if (call.io.now() > giveUpAt)
      throw failedError(
        `The daemon (pid ${identity.pid}) is still there after ${stopTimeoutMs / 1000} s. End it: kill -9 ${identity.pid}`,
      );
    await delay(pollMs);
  }
}

/** What runs, and how to stop all the same. */
function stillRunning(error: AnswerError, options: StopOptions): AnswerError {
  const { agents, jobs } = error.body;
  const verb = options.restart ? "restart" : "stop";
  return new AnswerError(error.status, {
    ...error.body,
    message: `Still running: ${count(agents, "agent")} and ${count(jobs, "job")}. Wait, or: sallyport daemon ${verb} --force (turns are cancelled, jobs go on)`,
  });
}

function count(raw: unknown, word: string): string {
  const amount = typeof raw === "number" ? raw : 0;
  return `${amount} ${word}${amount === 1 ? "" : "s"}`;
}

import { setTimeout as delay } from "node:timers/promises";
import type { HomePaths } from "../config/home-paths.ts";
import { checkHome } from "./check-home.ts";
import { readDaemonFile } from "./daemon-file.ts";
import { acquireLock } from "./lock.ts";
import { whoAnswers } from "./probe-port.ts";
import { StartupError } from "./startup-error.ts";

export interface TakeHomeOptions {
  readonly paths: HomePaths;
  readonly monotonicNow: () => number;
  /** How long one that is ending, or was just killed, may take to be gone. */
  readonly waitMs: number;
}

const pollMs = 25;
const answerTimeoutMs = 2_000;

/**
 * Makes this process the one daemon of its home, after making sure that the home is ours alone. A daemon that answers ends
 * the attempt at once; one that holds the home without answering is waited for, because it may be on its way out.
 *
 * @throws StartupError `home` or `running`
 */
export async function takeHome(options: TakeHomeOptions): Promise<void> {
  const { paths, monotonicNow } = options;
  await checkHome(paths.home);
  const giveUpAtMs = monotonicNow() + options.waitMs;
  for (;;) {
    const lock = await acquireLock(paths.home);
    if (lock.held) return;
    await refuseIfAnswering(paths, lock.pid);
    if (monotonicNow() >= giveUpAtMs)
      throw new StartupError(
        "running",
        `A daemon (pid ${lock.pid}) holds ${paths.home}, but does not answer. Wait for it, or end it: sallyport daemon stop --force`,
        { pid: lock.pid },
      );
    await delay(pollMs);
  }
}

async function refuseIfAnswering(paths: HomePaths, pid: number): Promise<void> {
  const file = await readDaemonFile(paths.daemonFile);
  if (file === null || file.pid !== pid) return;
  if ((await whoAnswers(file.port, file.masterToken, answerTimeoutMs)) !== "ours") return;
  const url = `http://127.0.0.1:${file.port}`;
  throw new StartupError(
    "running",
    `The daemon of ${paths.home} runs already at ${url} (pid ${pid}). Show it: sallyport daemon status`,
    { pid, url },
  );
}

import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { checkHome } from "../daemon/check-home.ts";
import { failedError } from "./cli-error.ts";
import type { Call } from "./command.ts";
import { type DaemonLink, findDaemon } from "./find-daemon.ts";
import { inline } from "./text.ts";

const startTimeoutMs = 20_000;
const pollMs = 40;
const maxTailBytes = 16 * 1024;
const shownLines = 5;

/**
 * Starts `daemon run` in the background, its output in `daemon.log`, and waits until it has proved to be this home's. If
 * another daemon of this home was faster, that one is returned.
 */
export async function spawnDaemon(call: Call, words: readonly string[]): Promise<DaemonLink> {
  const { paths, io } = call;
  await checkHome(paths.home);
  const log = await open(
    paths.daemonLog,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
    0o600,
  );
  const { size: logStart } = await log.stat();
  let ended = false;
  try {
    const [program, ...first] = io.self;
    const child = spawn(program, [...first, "daemon", "run", "--home", paths.home, ...words], {
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
      env: { ...io.env },
      cwd: io.cwd,
    });
    child.once("exit", () => {
      ended = true;
    });
    child.once("error", () => {
      ended = true;
    });
    child.unref();

    const giveUpAt = io.now() + startTimeoutMs;
    for (;;) {
      const wasEnded = ended;
      const found = await findDaemon(paths, io.env);
      if (found.state === "running" && (found.link.file.pid === child.pid || wasEnded)) return found.link;
      if (wasEnded)
        throw failedError(`The daemon did not start. ${await lastWords(paths.daemonLog, logStart)}`);
      if (io.now() > giveUpAt) {
        child.kill("SIGTERM");
        throw failedError(
          `The daemon was not up after ${startTimeoutMs / 1000} s, and is stopped. ${await lastWords(paths.daemonLog, logStart)}`,
        );
      }
      await delay(pollMs);
    }
  } finally {
    await log.close();
  }
}

/** What the daemon said last: its own words to people where there are some, else the last lines of the log. */
async function lastWords(path: string, from: number): Promise<string> {
  const log = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null);
  if (log === null) return "See: sallyport doctor";
  try {
    const { size } = await log.stat();
    const start = Math.max(from, size - maxTailBytes);
    if (size <= start) return "It said nothing. See: sallyport doctor";
    const buffer = Buffer.alloc(size - start);
    await log.read(buffer, 0, buffer.byteLength, start);
    const lines = buffer.toString("utf8").trimEnd().split("\n");
    const said = lines.filter((line) => line.startsWith("sallyport: ")).map((line) => line.slice(11));
    if (said.length > 0) return said.slice(-shownLines).map(inline).join("\n");
    return `The end of ${path}:\n${lines
      .slice(-shownLines)
      .map((line) => `  ${inline(line)}`)
      .join("\n")}\nSee: sallyport doctor`;
  } finally {
    await log.close();
  }
}

import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:fs";
import { type FileHandle, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isRunning, type ProcessIdentity, readProcessIdentity } from "../lib/process-identity.ts";
import { startLastGuard } from "./last-guard.ts";
import { endStrays, kinOf } from "./strays.ts";
import { runMark, watchdogArguments } from "./watchdog.ts";

/** What is kept on disk of a running tool, for the daemon that follows. */
export interface ChildRecord {
  /** Random per run of the tool; names its files. */
  readonly generation: string;
  /** Of the watchdog, which leads the process group. */
  readonly identity: ProcessIdentity;
}

/** One run of a tool, with everything that it started. */
export interface TunnelChild {
  readonly record: ChildRecord;
  /** What it prints. */
  readonly logPath: string;
  /** Resolves when the leader of its group is gone, with the tool's exit status where it is known. Never rejects. */
  readonly exited: Promise<number | null>;
  /** Ends it and all it started: SIGTERM, SIGKILL after three seconds. Resolves when they are gone and its files are removed. */
  stop(): Promise<void>;
  /** Lets it live on without us for a while, for the daemon that follows to take over. */
  handOver(): Promise<void>;
}

const killAfterMs = 5_000;
const adoptedPollMs = 250;
const adoptTries = 40;
const adoptPollMs = 100;

export interface SpawnOptions {
  readonly folder: string;
  readonly generation: string;
  /** The program's absolute path, then its arguments. */
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a tool under its watchdog. Rejects when the system refuses. */
export async function spawnChild({ folder, generation, words, env }: SpawnOptions): Promise<TunnelChild> {
  const files = filesOf(folder, generation);
  const log = await open(
    files.log,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    const child = spawn("/bin/sh", watchdogArguments(files.pipe, files.exit, words), {
      cwd: "/",
      env: { ...env, [runMark]: generation },
      detached: true,
      stdio: ["pipe", log.fd, log.fd],
    });
    await started(child);
    const pid = child.pid ?? 0;
    const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    // A leader that has ended already has no identity any more, and needs none: no signal follows.
    const identity = (await readProcessIdentity(pid)) ?? { boot: "", pid, start: "" };
    const input = child.stdin;
    input?.on("error", () => input.destroy());
    return createChild({
      files,
      record: { generation, identity },
      exited,
      release: async () => void input?.destroy(),
      announce: async () => {
        child.unref();
        await new Promise<void>((resolve) => {
          if (input === null) resolve();
          else input.end("handover\n", () => resolve());
        });
        input?.destroy();
      },
    });
  } finally {
    await log.close();
  }
}

/** Takes over a tool from the daemon before; null when it is gone, or nobody waits to be taken over. */
export async function adoptChild(folder: string, record: ChildRecord): Promise<TunnelChild | null> {
  const files = filesOf(folder, record.generation);
  for (let tries = 0; tries < adoptTries; tries++) {
    if (!(await isRunning(record.identity))) return null;
    const pipe = await openPipe(files.pipe);
    if (pipe !== null) return adopted(files, record, pipe);
    await delay(adoptPollMs);
  }
  return null;
}

/** Ends what an earlier daemon left running, if it is still exactly that process. Resolves when it is gone. */
export async function reapChild(folder: string, record: ChildRecord): Promise<void> {
  const kin = await kinOf(record.identity);
  await killGroup(record.identity);
  await endStrays(record.generation, kin);
  await removeFiles(filesOf(folder, record.generation));
}

interface ChildFiles {
  readonly log: string;
  readonly exit: string;
  readonly pipe: string;
}

function filesOf(folder: string, generation: string): ChildFiles {
  const base = join(folder, generation);
  return { log: `${base}.log`, exit: `${base}.exit`, pipe: `${base}.pipe` };
}

interface ChildParts {
  readonly files: ChildFiles;
  readonly record: ChildRecord;
  readonly exited: Promise<void>;
  /** Closes our end of the watchdog's pipe. */
  readonly release: () => Promise<void>;
  readonly announce: () => Promise<void>;
}

function createChild(parts: ChildParts): TunnelChild {
  const { files, record } = parts;
  const guard = startLastGuard(record.identity, record.generation);
  let stopping: Promise<void> | null = null;

  async function stop(): Promise<void> {
    // Before the first signal: with their parents gone they are nobody's.
    const kin = await kinOf(record.identity);
    await parts.release();
    const late = new AbortController();
    const timeOut = delay(killAfterMs, "late", { signal: late.signal }).catch(() => "gone");
    const first = await Promise.race([parts.exited.then(() => "gone"), timeOut]);
    late.abort();
    if (first === "late") await killGroup(record.identity);
    await parts.exited;
    // The watchdog has seen to them, unless the tool ended it first.
    await endStrays(record.generation, kin);
    await guard.dismiss();
    await removeFiles(files);
  }

  return {
    record,
    logPath: files.log,
    exited: parts.exited.then(() => readExit(files.exit)),
    stop() {
      stopping ??= stop();
      return stopping;
    },
    async handOver() {
      // First: at our end it would take a tool that is handed over for one that was left behind.
      await guard.dismiss();
      await parts.announce();
    },
  };
}

function adopted(files: ChildFiles, record: ChildRecord, pipe: FileHandle): TunnelChild {
  const exited = (async () => {
    while (await isRunning(record.identity)) await delay(adoptedPollMs, undefined, { ref: false });
  })();
  return createChild({
    files,
    record,
    exited,
    release: () => pipe.close().catch(() => undefined),
    announce: async () => {
      await pipe.write("handover\n").catch(() => undefined);
      await pipe.close().catch(() => undefined);
    },
  });
}

/** Null while nobody waits at its other end. */
async function openPipe(path: string): Promise<FileHandle | null> {
  const pipe = await open(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(
    () => null,
  );
  if (pipe === null || (await pipe.stat()).isFIFO()) return pipe;
  await pipe.close();
  return null;
}

async function killGroup(identity: ProcessIdentity): Promise<void> {
  while (await isRunning(identity)) {
    try {
      process.kill(-identity.pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
    await delay(20);
  }
}

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
}

async function readExit(path: string): Promise<number | null> {
  const text = await readFile(path, "utf8").catch(() => "");
  return /^\d{1,3}\n$/.test(text) ? Number(text) : null;
}

async function removeFiles(files: ChildFiles): Promise<void> {
  for (const path of [files.log, files.exit, `${files.exit}.tmp`, files.pipe])
    await rm(path, { force: true });
}

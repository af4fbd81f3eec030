import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Answer, type RequestOptions, request } from "./http.ts";
import { programPath } from "./program.ts";

export interface DaemonOptions {
  /** An existing home; without one a temporary home is made, and removed by `dispose`. */
  readonly home?: string;
  /** More words behind `daemon run --home … --port 0`. */
  readonly args?: readonly string[];
  /** Default 0: a free one. */
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Working folder, and the first tab's. */
  readonly cwd?: string;
  /** Written as `config.toml` before the start. */
  readonly config?: string;
}

export interface TestDaemon {
  readonly home: string;
  readonly url: string;
  readonly port: number;
  /** The master token. */
  readonly token: string;
  readonly pid: number;
  readonly instance: string;
  /** stdout and stderr so far. */
  output(): string;
  /** A request to the main door with the master token (`token: null` for none). */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  kill9(): Promise<void>;
  /** Resolves when the process has ended, however. */
  readonly exited: Promise<number | null>;
}

const running = new Set<ChildProcess>();
const homes = new Set<string>();

/** A temporary home that `disposeDaemons` removes. */
export async function temporaryHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "sallyport-e2e-"));
  homes.add(home);
  return home;
}

/** Runs `daemon run` as a process of its own and resolves when `daemon.json` is there. Rejects with its output when it ends before. */
export async function startTestDaemon(options: DaemonOptions = {}): Promise<TestDaemon> {
  const home = options.home ?? (await temporaryHome());
  if (options.config !== undefined) {
    await writeFile(join(home, "config.toml"), options.config, { mode: 0o600 });
  }
  const { child, output } = await spawnProgram(
    ["daemon", "run", "--home", home, "--port", String(options.port ?? 0), ...(options.args ?? [])],
    options,
  );
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const file = await waitForDaemonFile(home, child, exited, output);
  const daemon: TestDaemon = {
    home,
    url: file.url,
    port: Number(new URL(file.url).port),
    token: file.token,
    pid: file.pid,
    instance: file.instance,
    output,
    exited,
    request: (method, path, requestOptions = {}) =>
      request(file.url, method, path, { token: file.token, ...requestOptions }),
    async stop() {
      child.kill("SIGTERM");
      return exited;
    },
    async kill9() {
      child.kill("SIGKILL");
      await exited;
    },
  };
  return daemon;
}

export interface ProgramRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line to its end. */
export async function runProgram(
  args: readonly string[],
  options: Pick<DaemonOptions, "env" | "cwd"> & { readonly input?: string } = {},
): Promise<ProgramRun> {
  const { child, stdout, stderr } = await spawnProgram(args, options);
  child.stdin?.end(options.input ?? "");
  const [code] = await once(child, "close");
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Starts the command line with pipes. `disposeDaemons` ends what is left of it. */
export async function spawnProgram(
  args: readonly string[],
  options: Pick<DaemonOptions, "env" | "cwd"> = {},
): Promise<{ child: ChildProcess; output: () => string; stdout: () => string; stderr: () => string }> {
  const child = spawn(process.execPath, [await programPath(), ...args], {
    env: { ...cleanEnvironment(), ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let [stdout, stderr, output] = ["", "", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk;
    output += chunk;
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk;
    output += chunk;
  });
  return { child, output: () => output, stdout: () => stdout, stderr: () => stderr };
}

/** Ends every process that this test file started and removes its homes. Call it in `afterEach` or `afterAll`. */
export async function disposeDaemons(): Promise<void> {
  await Promise.all(
    [...running].map(async (child) => {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    }),
  );
  for (const home of homes) await endJobs(home);
  for (const home of homes) await rm(home, { recursive: true, force: true, maxRetries: 3 });
  homes.clear();
}

/** Ends the jobs of a home whose daemon is gone: they outlive it, as they should, and would outlive the tests too. */
async function endJobs(home: string): Promise<void> {
  const folder = join(home, "jobs");
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.endsWith(".json")) continue;
    const { id, pid, ended } = JSON.parse(await readFile(join(folder, name), "utf8").catch(() => "{}"));
    if (ended !== null || typeof pid !== "number") continue;
    // Its number may be another's by now.
    const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    if (environment.includes(`SALLYPORT_JOB=${id}`)) endGroup(pid);
  }
}

/** Does nothing to a group that has ended by itself. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const name of Object.keys(env))
    if (name.startsWith("SALLYPORT_") || name === "NODE_OPTIONS" || name.startsWith("VITEST"))
      delete env[name];
  return env;
}

interface DaemonFile {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly instance: string;
}

/** Waits for the file of this very process: one that an earlier daemon left behind has another pid. */
async function waitForDaemonFile(
  home: string,
  child: ChildProcess,
  exited: Promise<number | null>,
  output: () => string,
): Promise<DaemonFile> {
  const path = join(home, "daemon.json");
  const look = async (): Promise<DaemonFile | null> => {
    try {
      const file = JSON.parse(await readFile(path, "utf8")) as DaemonFile;
      return file.pid === child.pid ? file : null;
    } catch {
      return null;
    }
  };
  const watcher = watch(home);
  try {
    const ended = exited.then((code) => {
      throw new Error(`the daemon ended with ${code} before it was ready:\n${output()}`);
    });
    // Who only looks once would leave the rejection unheard.
    ended.catch(() => undefined);
    for (;;) {
      const changed = once(watcher, "change");
      const file = await look();
      if (file) return file;
      await Promise.race([changed, ended]);
    }
  } finally {
    watcher.close();
  }
}

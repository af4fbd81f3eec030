import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { keepUntilExit } from "./child.ts";

/** The copy of dist that is measured. */
export const programPath = fileURLToPath(new URL("../dist/sallyport.js", import.meta.url));

export interface Daemon {
  readonly home: string;
  readonly url: string;
  readonly port: number;
  readonly masterToken: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Where forwarders would connect to: everything there is remote. */
export interface DoorPort {
  readonly port: number;
  readonly url: string;
}

const startTimeoutMs = 20_000;

/** Not in /tmp: that may be memory, and jobs are measured against a real disk. */
export async function makeHome(config = ""): Promise<string> {
  const home = await mkdtemp("/var/tmp/sallyport-bench-");
  await writeFile(join(home, "config.toml"), config, { mode: 0o600 });
  return home;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

export async function freeDoor(): Promise<DoorPort> {
  const port = await freePort();
  return { port, url: `http://127.0.0.1:${port}` };
}

export function doorConfig(door: DoorPort): string {
  return `[[door]]\nlisten = ${door.port}\nurl = "${door.url}"\n`;
}

export function spawnDaemon(home: string, port: number, nodeArguments: readonly string[] = []): ChildProcess {
  const child = spawn(
    process.execPath,
    [...nodeArguments, programPath, "daemon", "run", "--home", home, "--port", String(port)],
    { stdio: ["ignore", "ignore", "inherit"], env: cleanEnvironment() },
  );
  keepUntilExit(child);
  return child;
}

/** Starts the built daemon with a temporary home that goes with it. */
export async function startDaemon(config = ""): Promise<Daemon> {
  const home = await makeHome(config);
  const child = spawnDaemon(home, 0, process.env.BENCH_DAEMON_NODE?.split(" "));
  const exited = once(child, "exit");
  const deadline = performance.now() + startTimeoutMs;
  for (;;) {
    const file = await readFile(join(home, "daemon.json"), "utf8").catch(() => null);
    if (file !== null) {
      const { url, token, pid } = JSON.parse(file) as { url: string; token: string; pid: number };
      return {
        home,
        url,
        port: Number(new URL(url).port),
        masterToken: token,
        pid,
        async stop() {
          child.kill("SIGTERM");
          await exited;
          await rm(home, { recursive: true, force: true, maxRetries: 3 });
        },
      };
    }
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error("the daemon did not start; run: npm run build");
    await delay(20);
  }
}

export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const name of Object.keys(env))
    if (name.startsWith("SALLYPORT_") || name === "NODE_OPTIONS") delete env[name];
  return env;
}

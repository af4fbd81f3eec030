import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/**
 * Names one process for ever: a pid alone is reused, and a pid with its start time repeats over reboots. `start` is
 * opaque (clock ticks since boot on Linux, a date elsewhere) and only ever compared.
 */
export interface ProcessIdentity {
  readonly boot: string;
  readonly pid: number;
  readonly start: string;
}

const run = promisify(execFile);
let knownBoot: Promise<string> | null = null;

/** The id of this boot of the machine; the empty string where the system has none. Read once a process. */
function bootId(): Promise<string> {
  knownBoot ??= readBootId();
  return knownBoot;
}

/**
 * The identity of a process that runs now; null when there is none, or when it has ended and is only not reaped yet (a
 * zombie holds its pid, but nothing of it runs).
 */
export async function readProcessIdentity(pid: number): Promise<ProcessIdentity | null> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  const start = await readStart(pid);
  return start === null ? null : { boot: await bootId(), pid, start };
}

/** True while exactly this process runs. A stranger that got its pid, a zombie and another boot are false. */
export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  const now = await readProcessIdentity(identity.pid);
  return now !== null && now.boot === identity.boot && now.start === identity.start;
}

/** The identity that a file tells, or null when it is none. */
export function parseProcessIdentity(raw: unknown): ProcessIdentity | null {
  if (typeof raw !== "object" || raw === null) return null;
  const { boot, pid, start } = raw as Record<string, unknown>;
  if (typeof boot !== "string" || typeof start !== "string") return null;
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return null;
  return { boot, pid, start };
}

/**
 * State and start time out of `/proc/<pid>/stat` (proc_pid_stat(5), fields 3 and 22). The name in field 2 may hold
 * spaces and parentheses, so the fields are counted from its last `)`. Null for a zombie or a text that is none.
 */
export function parseProcStat(text: string): string | null {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  const start = fields[19];
  if (!state || !start || !/^\d+$/.test(start)) return null;
  return state === "Z" || state === "X" || state === "x" ? null : start;
}

/** State and start time out of `ps -o stat=,lstart= -p PID`. Null for a zombie or no process. */
export function parsePsLine(text: string): string | null {
  const found = /^\s*(\S+)\s+(\S.*?)\s*$/.exec(text);
  if (!found?.[1] || !found[2]) return null;
  return found[1].startsWith("Z") ? null : found[2];
}

async function readStart(pid: number): Promise<string | null> {
  if (process.platform === "linux") {
    const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
    return text === null ? null : parseProcStat(text);
  }
  if (process.platform === "win32") return signalReaches(pid) ? "" : null;
  const printed = await run("/bin/ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
    env: { LC_ALL: "C" },
    timeout: 5_000,
  }).catch(() => null);
  return printed === null ? null : parsePsLine(printed.stdout);
}

async function readBootId(): Promise<string> {
  if (process.platform === "linux")
    return (await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "")).trim();
  if (process.platform !== "darwin") return "";
  const printed = await run("/usr/sbin/sysctl", ["-n", "kern.bootsessionuuid"], { timeout: 5_000 }).catch(
    () => null,
  );
  return printed?.stdout.trim() ?? "";
}

function signalReaches(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

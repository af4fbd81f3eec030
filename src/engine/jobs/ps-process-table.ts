import { execFile, execFileSync } from "node:child_process";
import type { ProcessRow, ProcessTable } from "./process-table.ts";

const columns = "pid=,ppid=,pgid=,stat=,lstart=";
const maxBuffer = 16 * 1024 * 1024;
const timeout = 5_000;

/** Asks `ps` (POSIX, with `lstart` as macOS, the BSDs and procps have it). Environments of others are not to be had here. */
export function createPsProcessTable(platform: NodeJS.Platform): ProcessTable {
  // lstart is local time in the user's language; a change of zone must not change an identity.
  const env = { PATH: "/bin:/usr/bin:/sbin:/usr/sbin", LC_ALL: "C", TZ: "UTC" };

  function run(file: string, args: readonly string[]): string | null {
    try {
      return execFileSync(file, args, {
        env,
        maxBuffer,
        timeout,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      });
    } catch {
      // ps exits with 1 when there is no such process.
      return null;
    }
  }

  return {
    bootId: bootIdCommand(platform, run),
    cheap: false,
    find: (pid) => parsePs(run("ps", ["-o", columns, "-p", String(pid)]) ?? "")[0] ?? null,
    scan: (sinceStart) =>
      new Promise((resolve, reject) => {
        execFile("ps", ["-axo", columns], { env, maxBuffer, timeout }, (error, stdout) => {
          if (error) reject(error);
          else resolve(parsePs(stdout).filter((row) => row.start >= sinceStart));
        });
      }),
  };
}

function bootIdCommand(
  platform: NodeJS.Platform,
  run: (file: string, args: readonly string[]) => string | null,
): string {
  const name = platform === "darwin" ? "kern.bootsessionuuid" : "kern.boottime";
  return run("sysctl", ["-n", name])?.trim() || "unknown";
}

/** Lines of `ps -o pid=,ppid=,pgid=,stat=,lstart=`; others are skipped. */
export function parsePs(rawText: string): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const line of rawText.split("\n")) {
    const found = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S.*\S)\s*$/.exec(line);
    if (!found) continue;
    const [, pid, ppid, pgrp, state = "", started = ""] = found;
    const start = Date.parse(`${started} UTC`) / 1000;
    if (!Number.isSafeInteger(start)) continue;
    rows.push({
      pid: Number(pid),
      ppid: Number(ppid),
      pgrp: Number(pgrp),
      start,
      ended: state.startsWith("Z"),
      job: null,
    });
  }
  return rows;
}

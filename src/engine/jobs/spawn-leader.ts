import { spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { shimArguments } from "./shim.ts";

export interface LeaderExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}
export type SpawnedLeader =
  | { readonly pid: number; readonly exited: Promise<LeaderExit> }
  | { readonly pid: null; readonly reason: string };

export interface LeaderSpec {
  readonly shell: string;
  readonly command: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Open for appending; the child gets it as stdout and stderr. */
  readonly logFd: number;
  readonly exitFile: string;
}

/**
 * Starts the leader in a session and process group of its own. The process exists when this function returns, before its
 * promise resolves; so a check made just before the call is made just before the spawn.
 */
export function spawnLeader(spec: LeaderSpec): Promise<SpawnedLeader> {
  return new Promise((resolve) => {
    try {
      const child = spawn(spec.shell, shimArguments(spec.shell, spec.command, spec.exitFile), {
        cwd: spec.cwd,
        env: spec.environment,
        detached: true,
        stdio: ["ignore", spec.logFd, spec.logFd],
      });
      child.on("error", (error: NodeJS.ErrnoException) => {
        resolve({ pid: null, reason: startProblem(error) });
      });
      if (child.pid === undefined) return;
      const exited = new Promise<LeaderExit>((ended) => {
        child.on("exit", (code, signal) => ended({ code, signal }));
      });
      child.unref();
      resolve({ pid: child.pid, exited });
    } catch (error) {
      resolve({ pid: null, reason: startProblem(error as NodeJS.ErrnoException) });
    }
  });
}

/** Why nothing can be started in `cwd`; null when it is a folder. (spawn blames the shell for a missing folder.) */
export async function folderProblem(cwd: string): Promise<string | null> {
  try {
    return (await stat(cwd)).isDirectory() ? null : `${cwd} is not a folder.`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return `The folder ${cwd} does not exist.`;
    return `The folder ${cwd} cannot be used (${code ?? "unknown"}).`;
  }
}

function startProblem(error: NodeJS.ErrnoException): string {
  if (error.code === "E2BIG")
    return "The command and the environment together are too long for this system (E2BIG).";
  if (error.code === "EACCES") return "The folder may not be entered, or the shell may not be run (EACCES).";
  if (error.code === "EAGAIN" || error.code === "ENOMEM")
    return `The system has no room for another process (${error.code}).`;
  return `The shell could not be started (${error.code ?? error.message}).`;
}

import { spawn } from "node:child_process";
import type { InhibitorCommand } from "./inhibitor-command.ts";

/** A tool that holds the machine awake. */
export interface Inhibitor {
  /** Resolves when it ends: released, killed by somebody, or because it failed. */
  readonly ended: Promise<void>;
  /** Lets go. Resolves when the tool is gone. */
  release(): Promise<void>;
}

export interface HoldOptions {
  readonly env: Readonly<Record<string, string>>;
  /** How long the tool may take until it holds. */
  readonly holdMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number;
}

const heldText = "held";
const maxStderrChars = 1_024;

/**
 * Starts the tool and resolves when it holds. It ends by itself when this process does, whatever ends it.
 *
 * @throws Error with the tool's own words when it cannot hold
 */
export async function holdInhibitor(command: InhibitorCommand, options: HoldOptions): Promise<Inhibitor> {
  const child = spawn(command.program, [...command.args], {
    // A group of its own: Ctrl-C at our terminal is for us to answer.
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...options.env },
    cwd: "/",
  });
  let gone = false;
  let stderr = "";
  let stdout = "";
  let said: () => void = () => undefined;
  const held = new Promise<"held">((resolve) => {
    said = () => resolve("held");
  });
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      gone = true;
      resolve();
    };
    child.once("exit", end);
    child.once("error", (error) => {
      stderr = error.message;
      end();
    });
  });
  child.stdin.on("error", () => gone);
  child.stdout.on("data", (chunk: Buffer) => {
    if (stdout.length < maxStderrChars) stdout += chunk.toString("latin1");
    if (stdout.includes(heldText)) said();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString("utf8")).slice(-maxStderrChars);
  });

  function signal(name: NodeJS.Signals): void {
    // Until its end was heard of, its pid and group are still its own.
    if (gone || child.pid === undefined) return;
    try {
      process.kill(-child.pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
  async function release(): Promise<void> {
    child.stdin.end();
    signal("SIGTERM");
    const hard = setTimeout(() => signal("SIGKILL"), options.graceMs);
    await ended;
    clearTimeout(hard);
  }

  let late: NodeJS.Timeout | undefined;
  const tooLate = new Promise<"late">((resolve) => {
    late = setTimeout(() => resolve("late"), options.holdMs);
  });
  const outcome = await Promise.race([held, ended, tooLate]);
  clearTimeout(late);
  if (outcome === "held" && !gone) return { ended, release };
  await release();
  const words = stderr.trim().replace(/\s+/g, " ");
  if (words !== "") throw new Error(words);
  throw new Error(outcome === "late" ? `no answer within ${options.holdMs / 1_000} s` : "it ended at once");
}

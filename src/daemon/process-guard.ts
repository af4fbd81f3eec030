import type { Log } from "../lib/log.ts";

/**
 * Decides what happens to a daemon in which something broke that nobody caught: it says so in the log and ends with a
 * code that is not 0, because a half-broken gate is worse than none; a service manager starts it again. Output to a
 * terminal or pipe that is gone is no such thing. Returns how to take the guard off.
 *
 * @param fatal ends the process
 */
export function guardProcess(log: Log, fatal: () => void): () => void {
  const onException = (error: unknown): void => {
    if (isLostOutput(error)) return;
    log.error({ err: error }, "something broke that nobody caught; the daemon ends");
    fatal();
  };
  const onOutputError = (): void => undefined;
  process.on("uncaughtException", onException);
  process.on("unhandledRejection", onException);
  process.stdout.on("error", onOutputError);
  process.stderr.on("error", onOutputError);
  return () => {
    process.off("uncaughtException", onException);
    process.off("unhandledRejection", onException);
    process.stdout.off("error", onOutputError);
    process.stderr.off("error", onOutputError);
  };
}

/** What the daemon does when it hears a signal. */
export interface SignalActions {
  /** SIGTERM and SIGINT: ends the daemon in order. */
  readonly end: () => void;
  /** SIGHUP: a terminal that went away, or a person who wants the settings read again. */
  readonly hangUp: () => void;
}

/**
 * Hears signals. To be in place before the daemon tells where it is: whoever reads that may send one at once. Returns how
 * to take it off.
 */
export function onSignals({ end, hangUp }: SignalActions): () => void {
  process.on("SIGTERM", end);
  process.on("SIGINT", end);
  process.on("SIGHUP", hangUp);
  return () => {
    process.off("SIGTERM", end);
    process.off("SIGINT", end);
    process.off("SIGHUP", hangUp);
  };
}

/** A write to our own stdout or stderr whose reader went away; sockets report theirs on themselves. */
export function isLostOutput(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === "EPIPE" && syscall === "write";
}

import { exitCodes, failedError } from "./cli-error.ts";
import type { CommandSpec } from "./command.ts";
import { daemonFlags, daemonOptions } from "./daemon-flags.ts";
import { startForeground } from "./foreground.ts";

/** For service managers, and what `daemon start` starts: no keys, no code, no QR. */
export const runDaemonCommand: CommandSpec = {
  usage: "run",
  about: "Run the daemon in the foreground, without keys and codes: for a service manager.",
  examples: ["sallyport daemon run --port 7701"],
  options: daemonOptions,
  async run(call) {
    const started = await startForeground(call, daemonFlags(call));
    if (started.state === "running")
      throw failedError(
        `The daemon of ${call.paths.home} runs already at ${started.link.file.url} (pid ${started.link.file.pid}). Stop it first: sallyport daemon stop`,
        "conflict",
      );
    const { foreground } = started;
    const stops = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) =>
      call.io.onSignal(signal, () => void foreground.stop()),
    );
    await call.out.line(started.url);
    await foreground.ended;
    for (const stop of stops) stop();
    return exitCodes.done;
  },
};

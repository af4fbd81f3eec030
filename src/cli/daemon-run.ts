import { failedError } from "./cli-error.ts";
import type { CommandSpec } from "./command.ts";
import { daemonFlags, daemonOptions } from "./daemon-flags.ts";
import { requireDaemon } from "./find-daemon.ts";
import { startForeground } from "./foreground.ts";
import { startTunnel } from "./start-tunnel.ts";
import { inline } from "./text.ts";

/** For service managers, and what `daemon start` starts: no keys, no code, no QR. */
export const runDaemonCommand: CommandSpec = {
  usage: "run",
  about:
    "Run the daemon in the foreground, without keys and codes: for a service manager. SIGHUP makes it read config.toml again.",
  examples: ["sallyport daemon run --port 7701"],
  options: daemonOptions,
  async run(call) {
    const flags = daemonFlags(call);
    const started = await startForeground(call, flags, "reload");
    if (started.state === "running")
      throw failedError(
        `The daemon of ${call.paths.home} runs already at ${started.link.file.url} (pid ${started.link.file.pid}). Stop it first: sallyport daemon stop`,
        "conflict",
      );
    const { foreground } = started;
    const stops = (["SIGINT", "SIGTERM"] as const).map((signal) =>
      call.io.onSignal(signal, () => void foreground.stop()),
    );
    try {
      // Whoever started us may have gone; the daemon does not end for that.
      await call.out.line(foreground.url).catch(() => undefined);
      for (const warning of foreground.warnings) await call.out.note(`sallyport: ${inline(warning)}`);
      if (flags.tunnel !== null)
        await startTunnel(call, await requireDaemon(call.paths, call.io.env), flags.tunnel);
      return await foreground.ended;
    } finally {
      for (const stop of stops) stop();
    }
  },
};

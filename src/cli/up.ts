import type { Remote } from "../protocol/objects.ts";
import { describeFailure, exitCodes } from "./cli-error.ts";
import { type Call, type CommandSpec, isOn } from "./command.ts";
import { type DaemonFlags, daemonFlags, daemonOptions } from "./daemon-flags.ts";
import { type DaemonLink, findDaemon, requireDaemon } from "./find-daemon.ts";
import { type Foreground, startForeground } from "./foreground.ts";
import { mintCode, showCode } from "./offers.ts";
import { openPage } from "./open-page.ts";
import { startTunnel } from "./start-tunnel.ts";
import { inline } from "./text.ts";

export const upCommand: CommandSpec = {
  usage: "up",
  about:
    "Run the daemon here, with its address and a pairing code. If it runs already, show them and end. On a terminal the keys r, t, p and q do what the last line says.",
  examples: ["sallyport up", "sallyport up --remote --port 7701"],
  options: [...daemonOptions, { flags: "--open", about: "open the page in the browser of this machine" }],
  async run(call) {
    const flags = daemonFlags(call);
    const found = await findDaemon(call.paths, call.io.env);
    if (found.state === "running") return showRunning(call, found.link, flags);
    const started = await startForeground(call, flags, hangUpOf(call));
    if (started.state === "running") return showRunning(call, started.link, flags);
    return stayInFront(call, flags, started.foreground);
  },
};

/** Our own daemon was there first: its address and a code, and what was asked for that can still be done. */
async function showRunning(call: Call, link: DaemonLink, flags: DaemonFlags): Promise<number> {
  const { out } = call;
  await out.line(`The daemon runs already: ${link.file.url} (pid ${link.file.pid})`);
  if ((flags.port !== null && flags.port !== 0 && flags.port !== link.file.port) || flags.host !== null)
    await out.note("It keeps its address. To move it: sallyport daemon restart --port N --host H");
  if (flags.remote) await link.rest.body<Remote>("POST", "/api/remote", { access: "on" });
  await showInvitation(call, link);
  if (flags.tunnel !== null) await startTunnel(call, link, flags.tunnel);
  if (isOn(call, "open")) await openPage(call, link);
  return exitCodes.done;
}

async function stayInFront(call: Call, flags: DaemonFlags, foreground: Foreground): Promise<number> {
  const { io, out } = call;
  const signals = ["SIGINT", "SIGTERM", ...(hangUpOf(call) === "end" ? (["SIGHUP"] as const) : [])] as const;
  const stops = signals.map((signal) => io.onSignal(signal, () => void foreground.stop()));
  let stopKeys: (() => void) | null = null;
  try {
    const link = await requireDaemon(call.paths, io.env);
    await out.line(link.file.url);
    for (const warning of foreground.warnings) await out.note(`sallyport: ${inline(warning)}`);
    const remote = await showInvitation(call, link);
    if (remote.access !== "off" && !flags.remote && flags.tunnel === null)
      await out.note("Remote access is still on from last time. To shut it: sallyport remote off");
    if (flags.tunnel !== null) await startTunnel(call, link, flags.tunnel);
    if (isOn(call, "open")) await openPage(call, link);
    if (io.keyboard !== null && io.stdout.isTerminal) {
      await out.line("Keys: r let this network in   t tunnel   p new pairing code   q quit");
      stopKeys = io.keyboard.listen((key) => {
        onKey(call, link, foreground, key).catch((error: unknown) =>
          out.note(`sallyport: ${describeFailure(error).message}`),
        );
      });
    }
    const code = await foreground.ended;
    if (code === exitCodes.done) await out.note("Stopped. Jobs go on.");
    return code;
  } catch (error) {
    await foreground.stop();
    throw error;
  } finally {
    stopKeys?.();
    for (const stop of stops) stop();
  }
}

/** On a terminal its end is ours, as for any program there; under nohup or a supervisor SIGHUP says: read the settings again. */
function hangUpOf({ io }: Call): "end" | "reload" {
  return io.keyboard !== null || io.stdout.isTerminal ? "end" : "reload";
}

async function onKey(call: Call, link: DaemonLink, foreground: Foreground, key: string): Promise<void> {
  switch (key.toLowerCase()) {
    case "r":
      await link.rest.body<Remote>("POST", "/api/remote", { access: "on" });
      await showInvitation(call, link);
      return;
    case "t":
      return startTunnel(call, link, "cloudflared");
    case "p":
      await showInvitation(call, link);
      return;
    case "q":
    case "\u0003":
      return foreground.stop();
    default:
      return;
  }
}

async function showInvitation(call: Call, link: DaemonLink): Promise<Remote> {
  const remote = await link.rest.body<Remote>("GET", "/api/remote");
  await showCode(call.io, call.out, await mintCode(link), remote);
  return remote;
}

import type { Remote } from "../protocol/objects.ts";
import { exitCodes } from "./cli-error.ts";
import { type Call, type CommandSpec, isOn } from "./command.ts";
import { daemonFlags, daemonOptions, flagWords } from "./daemon-flags.ts";
import { runDaemonCommand } from "./daemon-run.ts";
import { type DaemonLink, findDaemon } from "./find-daemon.ts";
import { networkCanRead, networkWarning } from "./offers.ts";
import { spawnDaemon } from "./spawn-daemon.ts";
import { requestStop, stopDaemon } from "./stop-daemon.ts";
import { requireTarget, type Target } from "./target.ts";
import { inline, shortTime } from "./text.ts";

const force = { flags: "--force", about: "even while agents or jobs run: turns are cancelled, jobs go on" };

const start: CommandSpec = {
  usage: "start",
  about: "Start the daemon in the background and print its address. 0 also when it runs already.",
  examples: ["sallyport daemon start", "sallyport daemon start --remote --port 7701"],
  json: true,
  options: daemonOptions,
  async run(call) {
    const flags = daemonFlags(call);
    const found = await findDaemon(call.paths, call.io.env);
    const link = found.state === "running" ? found.link : await spawnDaemon(call, flagWords(flags));
    if (found.state === "running")
      await call.out.note("The daemon runs already. To change how: sallyport daemon restart");
    return show(call, own(link));
  },
};

const stop: CommandSpec = {
  usage: "stop",
  about:
    "Stop the daemon and wait until it is gone. Remote access that was switched on is off after the next start.",
  examples: ["sallyport daemon stop", "sallyport daemon stop --force"],
  json: true,
  anywhere: true,
  options: [force],
  async run(call) {
    const options = { force: isOn(call, "force"), restart: false };
    const answer =
      call.remote === null
        ? await stopDaemon(call, options)
        : await requestStop((await requireTarget(call)).rest, options);
    if (call.json) await call.out.json(answer);
    else
      await call.out.line(
        `The daemon is stopped. Start it again${call.remote === null ? "" : ", on its machine"}: sallyport daemon start`,
      );
    return exitCodes.done;
  },
};

const restart: CommandSpec = {
  usage: "restart",
  about: "Stop the daemon and start it again in the background, with the same address and remote access.",
  examples: ["sallyport daemon restart"],
  json: true,
  options: [...daemonOptions, force],
  async run(call) {
    const flags = daemonFlags(call);
    const found = await findDaemon(call.paths, call.io.env);
    const before = (found.state === "running" ? found.link.file : found.file)?.port ?? null;
    if (found.state === "running") await stopDaemon(call, { force: isOn(call, "force"), restart: true });
    const port = flags.port ?? (found.state === "running" ? before : null);
    const link = await spawnDaemon(call, flagWords({ ...flags, port }));
    if (before !== null && link.file.port !== before)
      await call.out.note(
        `The daemon listens on port ${link.file.port} now; it was ${before}. Pages and bookmarks of the old one no longer lead here.`,
      );
    return show(call, own(link));
  },
};

const status: CommandSpec = {
  usage: "status",
  about: "Say whether the daemon runs, where, and what it is doing. Exit code 3 when it does not run.",
  examples: ["sallyport daemon status", "sallyport daemon status --json"],
  json: true,
  anywhere: true,
  run: async (call) => show(call, await requireTarget(call)),
};

export const daemonCommand: CommandSpec = {
  usage: "daemon",
  about: "The daemon in the background.",
  examples: ["sallyport daemon start", "sallyport daemon status"],
  children: [start, stop, restart, status, runDaemonCommand],
};

interface DaemonStatus {
  readonly version: string;
  readonly pid: number;
  readonly started: string;
  readonly clients: number;
  readonly loaded_tabs: number;
  readonly running_agents: number;
  readonly running_jobs: number;
  readonly pending: number;
}

/** A daemon of this home, as a target. */
function own(link: DaemonLink): Pick<Target, "url" | "rest"> {
  return { url: link.file.url, rest: link.rest };
}

async function show(call: Call, { url, rest }: Pick<Target, "url" | "rest">): Promise<number> {
  const state = await rest.body<DaemonStatus>("GET", "/api/daemon");
  if (call.json) {
    await call.out.json(state);
    return exitCodes.done;
  }
  const remote = await rest.body<Remote>("GET", "/api/remote");
  const { out } = call;
  await out.line(url);
  await out.line(
    `The daemon runs: pid ${state.pid}, version ${inline(state.version)}, since ${shortTime(state.started)} UTC`,
  );
  await out.line(
    `Clients ${state.clients}, running agents ${state.running_agents}, running jobs ${state.running_jobs}, open approvals ${state.pending}`,
  );
  await out.line(
    `Remote access is ${remote.access}${remote.access === "off" ? ". Let this network in: sallyport remote on" : ""}`,
  );
  for (const { kind, address } of remote.addresses)
    if (kind !== "local") await out.line(`  ${inline(address)}`);
  if (networkCanRead(remote)) await out.line(networkWarning);
  if (state.version !== call.version)
    await out.line(`This is version ${call.version}; the daemon follows with: sallyport daemon restart`);
  return exitCodes.done;
}

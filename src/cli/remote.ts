import type { Access, Remote } from "../protocol/objects.ts";
import { exitCodes } from "./cli-error.ts";
import type { Call, CommandSpec } from "./command.ts";
import { networkCanRead, networkWarning } from "./offers.ts";
import { requireTarget } from "./target.ts";
import { inline } from "./text.ts";
import { tunnelLines } from "./tunnel-text.ts";

const words: Readonly<Record<Access, string>> = {
  off: "off: only this machine",
  tunnel: "tunnel: only what arrives at a tunnel or another door",
  on: "on: this network, tunnels and doors",
};

function switchTo(access: Access, about: string): CommandSpec {
  return {
    usage: access,
    about,
    examples: [`sallyport remote ${access}`],
    json: true,
    anywhere: true,
    async run(call) {
      const { rest } = await requireTarget(call);
      return show(call, await rest.body<Remote>("POST", "/api/remote", { access }));
    },
  };
}

const status: CommandSpec = {
  usage: "status",
  about: "Say who can reach the daemon, and where.",
  examples: ["sallyport remote status --json"],
  json: true,
  anywhere: true,
  async run(call) {
    const { rest } = await requireTarget(call);
    return show(call, await rest.body<Remote>("GET", "/api/remote"));
  },
};

export const remoteCommand: CommandSpec = {
  usage: "remote",
  about: "Remote access: off, through doors only, or this network too.",
  examples: ["sallyport remote on", "sallyport remote status"],
  json: true,
  anywhere: true,
  children: [
    switchTo("on", "Let this network in. Without TLS, whoever can read this network can become this device."),
    switchTo("tunnel", "Let in only what arrives at a tunnel or another door."),
    switchTo("off", "Let nobody in but this machine; a running tunnel ends."),
    status,
  ],
};

async function show(call: Call, remote: Remote): Promise<number> {
  if (call.json) {
    await call.out.json(remote);
    if (networkCanRead(remote)) await call.out.note(networkWarning);
    return exitCodes.done;
  }
  const { out } = call;
  await out.line(`Remote access is ${words[remote.access]}`);
  await out.line(`Listening on ${remote.bound.map(inline).join(", ")}`);
  for (const { kind, address } of remote.addresses) await out.line(`  ${kind.padEnd(6)}  ${inline(address)}`);
  if (remote.tunnel.state !== "off") for (const line of tunnelLines(remote.tunnel)) await out.line(line);
  await out.line(`Paired devices: ${remote.devices}`);
  if (networkCanRead(remote)) await out.line(networkWarning);
  await out.line(
    remote.access === "off" ? "Let this network in: sallyport remote on" : "Pair a device: sallyport pair",
  );
  return exitCodes.done;
}

import { lockHolder } from "../daemon/lock.ts";
import { resetDeviceFiles } from "../pairing/reset-device-files.ts";
import type { Device } from "../protocol/objects.ts";
import { type Scope, scopes } from "../protocol/scopes.ts";
import { CliError, exitCodes, usageError } from "./cli-error.ts";
import type { Call, CommandSpec } from "./command.ts";
import { findDaemon } from "./find-daemon.ts";
import { table } from "./printer.ts";
import { requireTarget } from "./target.ts";
import { inline, shortTime } from "./text.ts";

const listDevices: CommandSpec = {
  usage: "list",
  about: "List the paired devices.",
  examples: ["sallyport devices list --json"],
  json: true,
  anywhere: true,
  run: list,
};

const revokeDevice: CommandSpec = {
  usage: "revoke <id>",
  about: "Throw a device out: its token counts no more and its sockets close at once. Its jobs go on.",
  examples: ["sallyport devices revoke 01a1c0de-0000-7000-8000-000000000000"],
  json: true,
  anywhere: true,
  async run(call) {
    const { rest } = await requireTarget(call);
    const id = call.words[0] ?? "";
    await rest.request("DELETE", devicePath(id));
    if (call.json) await call.out.json({ type: "ack", device: id });
    else await call.out.line(`Device ${inline(id)} is revoked.`);
    return exitCodes.done;
  },
};

const renameDevice: CommandSpec = {
  usage: "rename <id> <name>",
  about: "Give a device another name.",
  examples: ['sallyport devices rename 01a1c0de-0000-7000-8000-000000000000 "Work laptop"'],
  json: true,
  anywhere: true,
  run: (call) => change(call, { name: call.words[1] ?? "" }),
};

const scopeDevice: CommandSpec = {
  usage: "scope <id> <scopes...>",
  about: `Say what a device may do: ${scopes.join(", ")}.`,
  examples: ["sallyport devices scope 01a1c0de-0000-7000-8000-000000000000 view drive"],
  json: true,
  anywhere: true,
  run: (call) => change(call, { scopes: parseScopes(call.words.slice(1)) }),
};

const resetDevices: CommandSpec = {
  usage: "reset",
  about:
    "Set the pairing files aside (renamed, never deleted), so that the daemon starts with new ones. Every device must pair again. Only while no daemon runs.",
  examples: ["sallyport daemon stop && sallyport devices reset"],
  json: true,
  run: reset,
};

export const devicesCommand: CommandSpec = {
  usage: "devices",
  about: "The paired devices. Without a further word: list them.",
  examples: ["sallyport devices", "sallyport devices revoke ID"],
  json: true,
  anywhere: true,
  children: [listDevices, revokeDevice, renameDevice, scopeDevice, resetDevices],
  run: list,
};

async function list(call: Call): Promise<number> {
  const { rest } = await requireTarget(call);
  const answer = await rest.body<{ devices: readonly Device[] }>("GET", "/api/devices");
  if (call.json) await call.out.json(answer);
  else if (answer.devices.length === 0) await call.out.line("No device is paired. Pair one: sallyport pair");
  else
    await call.out.line(
      table([
        ["DEVICE", "NAME", "KIND", "MAY", "LAST SEEN", "CONNECTED", "EXPIRES"],
        ...answer.devices.map((device) => [
          inline(device.id),
          inline(device.name),
          inline(device.kind),
          inline(device.scopes.join(" ")),
          shortTime(device.last_seen),
          String(device.connected),
          device.expires === null ? "never" : shortTime(device.expires),
        ]),
      ]),
    );
  return exitCodes.done;
}

async function change(call: Call, body: { name?: string; scopes?: readonly Scope[] }): Promise<number> {
  const { rest } = await requireTarget(call);
  const id = call.words[0] ?? "";
  const device = await rest.body<Device>("PATCH", devicePath(id), body);
  if (call.json) await call.out.json(device);
  else
    await call.out.line(
      `${inline(device.name)} (${inline(device.id)}) may: ${inline(device.scopes.join(", "))}`,
    );
  return exitCodes.done;
}

async function reset(call: Call): Promise<number> {
  const { paths } = call;
  const holder = await lockHolder(paths.home);
  const found = holder === null ? await findDaemon(paths, call.io.env) : null;
  if (holder !== null || found?.state === "running")
    throw new CliError(
      exitCodes.failed,
      "conflict",
      `The daemon runs${holder === null ? "" : ` (pid ${holder.pid})`} and would write its devices back. First: sallyport daemon stop`,
    );
  const setAside = await resetDeviceFiles(paths, call.io.now());
  if (call.json) await call.out.json({ set_aside: setAside });
  else if (setAside.length === 0)
    await call.out.line("There is nothing to set aside. Start the daemon: sallyport daemon start");
  else
    await call.out.line(
      `Set aside:\n${setAside.map((path) => `  ${inline(path)}`).join("\n")}\nThe next start makes new files; every device must pair again: sallyport up`,
    );
  return exitCodes.done;
}

/** Scopes as words, in any number of arguments, commas allowed. */
export function parseScopes(words: readonly string[]): readonly Scope[] {
  const named = words.flatMap((word) => word.split(",")).filter((word) => word !== "");
  const known = named.filter((word): word is Scope => scopes.some((scope) => scope === word));
  if (known.length !== named.length || known.length === 0)
    throw usageError(`Scopes are: ${scopes.join(", ")}. As in: --scope view --scope drive`);
  return [...new Set(known)];
}

function devicePath(id: string): string {
  return `/api/devices/${encodeURIComponent(id)}`;
}

import { hostname } from "node:os";
import { AnswerError, UnreachableError } from "../client/answer-error.ts";
import { type BaseAddress, codeOfLink, readBase } from "../client/base-address.ts";
import { hello, type Paired, pair } from "../client/pair.ts";
import { CliError, exitCodes, failedError, noDaemonError, usageError } from "./cli-error.ts";
import { type Call, type CommandSpec, isOn, textOption } from "./command.ts";
import { sendOverNode } from "./node-http.ts";
import { table } from "./printer.ts";
import { askLine } from "./remotes/ask-line.ts";
import { isRemoteName, type KnownRemote } from "./remotes/remote-file.ts";
import { changeRemotes, findRemote, readRemotes } from "./remotes/remote-store.ts";
import { remoteTarget } from "./target.ts";
import { inline, shortTime } from "./text.ts";

const maxDeviceNameChars = 64;

const add: CommandSpec = {
  usage: "add <name> <url>",
  about:
    "Pair with a daemon elsewhere and call it NAME. URL is its address or a pairing link; the code comes from --pair, the link, or is asked for.",
  examples: [
    "sallyport connect add box https://box.example --pair ABCDE-FGHJK",
    "sallyport connect add box 'https://box.example/#pair=ABCDE-FGHJK'",
  ],
  json: true,
  options: [
    { flags: "--pair <code>", about: "the pairing code that `sallyport pair` shows there; it counts once" },
    { flags: "--as <device>", about: "what this machine is called there (default: its host name)" },
    { flags: "--replace", about: "forget an earlier pairing under this name" },
  ],
  run: addRemote,
};

const list: CommandSpec = {
  usage: "list",
  about: "List the daemons that this machine is paired with.",
  examples: ["sallyport connect list --json"],
  json: true,
  run: listRemotes,
};

const remove: CommandSpec = {
  usage: "remove <name>",
  about: "Give up a pairing: the token is revoked there, if that can be reached, and forgotten here.",
  examples: ["sallyport connect remove box"],
  json: true,
  run: removeRemote,
};

export const connectCommand: CommandSpec = {
  usage: "connect",
  about:
    "Daemons elsewhere that this machine is paired with, for -C NAME. Without a further word: list them.",
  examples: ["sallyport connect add box https://box.example", "sallyport -C box jobs"],
  json: true,
  children: [add, list, remove],
  run: listRemotes,
};

async function addRemote(call: Call): Promise<number> {
  const [name = "", rawUrl = ""] = call.words;
  if (!isRemoteName(name))
    throw usageError(
      "A name has up to 64 letters, digits, dots, hyphens and underscores, and begins with a letter or digit, as in: box",
    );
  const address = readBase(rawUrl);
  if (!address.ok) throw usageError(address.hint);
  const known = (await readRemotes(call.paths)).find((remote) => remote.name === name);
  if (known && !isOn(call, "replace"))
    throw failedError(
      `There is a remote "${name}" already (${known.base}). Take another name, or pair anew: --replace`,
      "conflict",
    );
  await greet(call, address);
  const code = textOption(call, "pair") ?? codeOfLink(rawUrl) ?? (await askForCode(call));
  const paired = await claim(address, code, textOption(call, "as") ?? deviceName());
  const remote: KnownRemote = {
    name,
    base: address.base,
    token: paired.token,
    device: paired.device.id,
    added: new Date(call.io.now()).toISOString(),
  };
  await changeRemotes(call.paths, (remotes) => [...remotes.filter((each) => each.name !== name), remote]);
  if (call.json) await call.out.json(shown(remote));
  else
    await call.out.line(
      `Paired with ${name} (${inline(remote.base)}) as "${inline(paired.device.name)}". It may: ${inline(paired.device.scopes.join(", "))}\nUse it: sallyport -C ${name} jobs`,
    );
  return exitCodes.done;
}

/** Makes sure that it is a daemon before a code is sent to it. */
async function greet(call: Call, address: BaseAddress): Promise<void> {
  if (!address.isEncrypted && !address.isLoopback)
    await call.out.note(
      `sallyport: ${inline(address.base)} is not encrypted: whoever can read this network can become this device.`,
    );
  try {
    await hello(address.base, sendOverNode);
  } catch (error) {
    throw explain(address.base, error);
  }
}

function askForCode(call: Call): Promise<string> {
  return askLine(
    call,
    "Pairing code (there: sallyport pair): ",
    "Give the pairing code that `sallyport pair` shows there: --pair ABCDE-FGHJK",
  );
}

async function claim({ base }: BaseAddress, code: string, name: string): Promise<Paired> {
  try {
    return await pair({ base, code, name, kind: "cli", send: sendOverNode });
  } catch (error) {
    throw explain(base, error);
  }
}

/** What went wrong at an address that has no name here yet. */
function explain(base: string, error: unknown): unknown {
  if (error instanceof UnreachableError)
    return noDaemonError(`${error.message} Is the address right (${inline(base)}), and the daemon on?`);
  if (!(error instanceof AnswerError)) return error;
  const { code, message, retry_after } = error.body;
  if (code === "pairing_locked" && typeof retry_after === "number")
    return new CliError(
      exitCodes.notAllowed,
      "pairing_locked",
      `Too many wrong codes: that daemon takes no wrong one for ${Math.ceil(retry_after)} s. A right one still counts; make a new one there: sallyport pair`,
    );
  if (code === "remote_off")
    return new CliError(
      exitCodes.notAllowed,
      "remote_off",
      `The daemon at ${inline(base)} lets nobody in from elsewhere. On its machine run: sallyport remote on`,
    );
  if (error.status === 404)
    return noDaemonError(`What answers at ${inline(base)} is no Sallyport daemon (${inline(message)}).`);
  return error;
}

async function listRemotes(call: Call): Promise<number> {
  const remotes = await readRemotes(call.paths);
  if (call.json) await call.out.json({ remotes: remotes.map(shown) });
  else if (remotes.length === 0)
    await call.out.line("No daemon elsewhere is paired. Pair one: sallyport connect add NAME URL");
  else
    await call.out.line(
      table([
        ["NAME", "ADDRESS", "DEVICE THERE", "ADDED"],
        ...remotes.map(({ name, base, device, added }) => [
          name,
          inline(base),
          inline(device),
          shortTime(added),
        ]),
      ]),
    );
  return exitCodes.done;
}

async function removeRemote(call: Call): Promise<number> {
  const name = call.words[0] ?? "";
  const remote = await findRemote(call.paths, name);
  const revoked = await revokeThere(remote);
  await changeRemotes(call.paths, (remotes) => remotes.filter((each) => each.name !== name));
  if (call.json) await call.out.json({ type: "ack", name, revoked });
  else await call.out.line(`The pairing with ${name} is forgotten here.`);
  if (!revoked)
    await call.out.note(
      `sallyport: it could not be revoked there. On its machine run: sallyport devices revoke ${inline(remote.device)}`,
    );
  return exitCodes.done;
}

/** True when the token counts no more there. */
async function revokeThere(remote: KnownRemote): Promise<boolean> {
  try {
    await remoteTarget(remote).rest.request("DELETE", `/api/devices/${encodeURIComponent(remote.device)}`);
    return true;
  } catch (error) {
    return error instanceof CliError && error.code === "unauthorized";
  }
}

/** Without the token: nothing prints it. */
function shown({ name, base, device, added }: KnownRemote): Omit<KnownRemote, "token"> {
  return { name, base, device, added };
}

function deviceName(): string {
  return inline(hostname()).slice(0, maxDeviceNameChars) || "cli";
}

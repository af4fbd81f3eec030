import { readFile } from "node:fs/promises";
import type { Remote, Tunnel } from "../protocol/objects.ts";
import { exitCodes, failedError, usageError } from "./cli-error.ts";
import { type Call, type CommandSpec, isOn, type OptionSpec, textOption } from "./command.ts";
import { mintCode, showCode } from "./offers.ts";
import { requireTarget } from "./target.ts";
import { checkedProvider } from "./tunnel-provider.ts";
import { tunnelLines } from "./tunnel-text.ts";
import { settled } from "./tunnel-wait.ts";

/** Options of `start` and the fields of `POST /api/tunnel` that they become. A credential never is one. */
const textFields = {
  host: "host",
  url: "url",
  hostname: "hostname",
  remoteBind: "remote_bind",
  region: "region",
};
const numberFields = { remotePort: "remote_port", sshPort: "port", httpsPort: "https_port" };

const startOptions: readonly OptionSpec[] = [
  { flags: "--host <user@server>", about: "ssh: the server" },
  { flags: "--remote-port <n>", about: "ssh: the port on the server" },
  {
    flags: "--ssh-port <n>",
    about: "ssh: the port of the server's sshd (default: 22, or as ~/.ssh/config says)",
  },
  { flags: "--remote-bind <address>", about: "ssh: the address on the server (default: 127.0.0.1)" },
  { flags: "--url <url>", about: "ssh, command, ngrok: the public address" },
  { flags: "--hostname <name>", about: "cloudflared: the host name of a named tunnel" },
  {
    flags: "--credential-file <file>",
    about: "cloudflared: a file with the tunnel's token; ngrok: with the authtoken",
  },
  { flags: "--funnel", about: "tailscale: open to the whole internet, not to your tailnet only" },
  { flags: "--https-port <n>", about: "tailscale: the public port (default: 443)" },
  { flags: "--region <name>", about: "ngrok: the region" },
  { flags: "--no-wait", about: "do not wait until it is up" },
];

const start: CommandSpec = {
  usage: "start <provider>",
  about:
    "Start a tunnel: cloudflared, tailscale, ngrok, ssh or command (of config.toml). Waits until it is up and shows a pairing code.",
  examples: [
    "sallyport tunnel start cloudflared",
    "sallyport tunnel start ssh --host me@box.example --remote-port 9000 --url https://me.example",
  ],
  json: true,
  anywhere: true,
  options: startOptions,
  async run(call) {
    const provider = checkedProvider("The provider", call.words[0] ?? "");
    const body = { provider, ...(await fieldsOf(call, provider)) };
    const target = await requireTarget(call);
    let remote = await target.rest.body<Remote>("POST", "/api/tunnel", body);
    if (call.options.wait !== false) remote = await settled(call, target, remote);
    const { tunnel } = remote;
    if (call.json) {
      await call.out.json(remote);
      return tunnel.state === "failed" ? exitCodes.failed : exitCodes.done;
    }
    if (tunnel.state === "failed") throw failedError(notUp(tunnel));
    for (const line of tunnelLines(tunnel)) await call.out.line(line);
    if (tunnel.state === "up") await showCode(call.io, call.out, await mintCode(target), remote);
    return exitCodes.done;
  },
};

const stop: CommandSpec = {
  usage: "stop",
  about: "End the tunnel. Remote access that it switched on is off again.",
  examples: ["sallyport tunnel stop"],
  json: true,
  anywhere: true,
  run: async (call) =>
    show(call, await (await requireTarget(call)).rest.body<Remote>("DELETE", "/api/tunnel")),
};

const status: CommandSpec = {
  usage: "status",
  about: "Say how the tunnel is, and what it waits for.",
  examples: ["sallyport tunnel status --json"],
  json: true,
  anywhere: true,
  run: async (call) => show(call, await (await requireTarget(call)).rest.body<Remote>("GET", "/api/remote")),
};

export const tunnelCommand: CommandSpec = {
  usage: "tunnel",
  about: "A public address for this daemon: cloudflared, tailscale, ngrok, ssh or a program of your own.",
  examples: ["sallyport tunnel start cloudflared", "sallyport tunnel status"],
  json: true,
  anywhere: true,
  children: [start, stop, status],
};

async function fieldsOf(call: Call, provider: string): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const [option, field] of Object.entries(textFields)) {
    const text = textOption(call, option);
    if (text !== null) fields[field] = text;
  }
  for (const [option, field] of Object.entries(numberFields)) {
    const text = textOption(call, option);
    if (text === null) continue;
    if (!/^\d{1,5}$/.test(text))
      throw usageError(`${field.replaceAll("_", " ")} takes a number, as in: 9000`);
    fields[field] = Number(text);
  }
  if (isOn(call, "funnel")) fields.funnel = true;
  const file = textOption(call, "credentialFile");
  if (file === null) return fields;
  const token = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw failedError(`${file} cannot be read (${error.code ?? "unknown"}).`);
  });
  fields[provider === "ngrok" ? "authtoken" : "token"] = token.trim();
  return fields;
}

function notUp({ reason, next_try }: Tunnel): string {
  const goesOn = "It is tried again: sallyport tunnel status. To give it up: sallyport tunnel stop";
  return `The tunnel is not up: ${reason ?? "it failed"}${next_try === null ? "" : ` ${goesOn}`}`;
}

async function show(call: Call, remote: Remote): Promise<number> {
  if (call.json) await call.out.json(remote);
  else for (const line of tunnelLines(remote.tunnel)) await call.out.line(line);
  return exitCodes.done;
}

import { resolve } from "node:path";
import { usageError } from "./cli-error.ts";
import { type Call, isOn, type OptionSpec, textOption } from "./command.ts";
import { checkedProvider } from "./tunnel-provider.ts";

/** What `up`, `daemon run`, `daemon start` and `daemon restart` are told about the daemon to run. Null: as configured. */
export interface DaemonFlags {
  readonly port: number | null;
  readonly host: string | null;
  readonly remote: boolean;
  readonly tunnel: string | null;
  /** Absolute path. */
  readonly tokenFile: string | null;
}

export const daemonOptions: readonly OptionSpec[] = [
  { flags: "--port <n>", about: "the port (default: 7700, or as configured); 0 picks a free one" },
  { flags: "--host <address>", about: "the address to listen on when remote access is on (default: all)" },
  {
    flags: "--remote",
    about: "let this network in. Without TLS, whoever can read this network can become this device",
  },
  { flags: "--tunnel <provider>", about: "start a tunnel" },
  {
    flags: "--token-file <file>",
    about: "take the master token from this file (0600) instead of the home's",
  },
];

/** Reads the options; wrong values are wrong usage. */
export function daemonFlags(call: Call): DaemonFlags {
  const rawPort = textOption(call, "port");
  const port = rawPort === null ? null : Number(rawPort);
  if (rawPort !== null && (!/^\d{1,5}$/.test(rawPort) || Number(rawPort) > 65_535))
    throw usageError("--port takes a number from 0 to 65535, as in: --port 7701");
  const host = textOption(call, "host");
  if (host === "")
    throw usageError("--host is empty. Name an address of this machine, as in: --host 192.168.1.20");
  const tunnel = textOption(call, "tunnel");
  if (tunnel !== null) checkedProvider("--tunnel", tunnel);
  const tokenFile = textOption(call, "tokenFile");
  if (tokenFile === "") throw usageError("--token-file is empty. Name a file that only you can read.");
  return {
    port,
    host,
    remote: isOn(call, "remote"),
    tunnel,
    tokenFile: tokenFile === null ? null : resolve(call.io.cwd, tokenFile),
  };
}

/** The flags as words again, for the daemon that is started in the background. None of them is a secret. */
export function flagWords(flags: DaemonFlags): readonly string[] {
  return [
    ...(flags.port === null ? [] : ["--port", String(flags.port)]),
    ...(flags.host === null ? [] : ["--host", flags.host]),
    ...(flags.remote ? ["--remote"] : []),
    ...(flags.tunnel === null ? [] : ["--tunnel", flags.tunnel]),
    ...(flags.tokenFile === null ? [] : ["--token-file", flags.tokenFile]),
  ];
}

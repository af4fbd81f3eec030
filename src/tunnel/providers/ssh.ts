import { createAskingReader } from "../asking.ts";
import { configPath, createFieldReader } from "../fields.ts";
import { complaint, type KnownProblem, knownProblem } from "../problem-lines.ts";
import type { LoginVerdict, Provider, ToolQuestions } from "../provider.ts";

/** `box`, `me@box.example`, `me@192.0.2.7`. Never begins with a dash: ssh would read an option. */
const destination =
  /^(?:[A-Za-z_][A-Za-z0-9._-]{0,63}@)?(?:[A-Za-z0-9][A-Za-z0-9._-]{0,252}|[0-9A-Fa-f:]{2,45})$/;
const bindAddress = /^(?:localhost|\*|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f:]{2,45})$/;

const problems: readonly KnownProblem[] = [
  {
    pattern: /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED|No \S+ host key is known/i,
    text: "The server's host key is not known, or is another one. Log in once by hand and compare it: ssh HOST",
    final: true,
  },
  {
    pattern: /Permission denied \(/i,
    text: "The server lets this user in with none of the keys. Nobody is there to type a password: set up a key (ssh-copy-id HOST).",
    final: true,
  },
  {
    pattern: /remote port forwarding failed/i,
    text: "The server does not open the port: it is taken there (perhaps by an earlier connection that is not gone yet), or forwarding is not allowed.",
    final: false,
  },
  {
    pattern: /Could not resolve hostname/i,
    text: "The name of the server cannot be resolved.",
    final: false,
  },
];

/**
 * `ssh -R` to a server of the user's own, where a web server with TLS stands in front of the forwarded port. Fit to run
 * unattended: it asks nothing, checks the host key, notices a dead link, and ends when the port cannot be had.
 */
export const ssh: Provider = {
  name: "ssh",
  addressSource: "none",
  howToGet: "Install OpenSSH's client (on Debian and Ubuntu: apt install openssh-client)",
  versionArgs: ["-V"],
  checkLogin,
  plan(input) {
    const fields = createFieldReader("ssh", input);
    const host = fields.text("host", destination, "a server, as in: me@box.example");
    const port = fields.integer("port", 1, 65_535);
    const remotePort = fields.integer("remote_port", 1, 65_535);
    const bind =
      fields.text("remote_bind", bindAddress, "an address of the server, as in: 127.0.0.1") ?? "127.0.0.1";
    const publicUrl = fields.url("url");
    const identity = configPath(fields, "identity_file");
    const knownHosts = configPath(fields, "known_hosts");
    fields.end();
    const target =
      host ?? fields.refuse("host", "is missing: the server to connect to, as in: me@box.example");
    const forwarded =
      remotePort ?? fields.refuse("remote_port", "is missing: the port on the server, as in: 9000");
    const url =
      publicUrl ??
      fields.refuse(
        "url",
        "is missing: the address at which the server hands on to that port, as in: https://me.example",
      );
    const options = connectionOptions({ identity, knownHosts });
    return {
      publicUrl: url,
      secrets: [],
      tellsReady: false,
      hint: () => null,
      command: (doorPort) => ({
        program: "ssh",
        args: [
          "-N",
          "-T",
          ...options,
          ...(port === null ? [] : ["-p", String(port)]),
          "-R",
          `${bind.includes(":") ? `[${bind}]` : bind}:${forwarded}:127.0.0.1:${doorPort}`,
          "--",
          target,
        ],
        env: {},
      }),
      createReader() {
        // A server may want to see its user in a browser first, as Tailscale's does.
        const readAsking = createAskingReader(null);
        return (line) => knownProblem(line, problems) ?? readAsking(line) ?? complaint(line);
      },
    };
  },
};

/** ssh_config(5): a value with spaces stands in quotes. */
function quoted(path: string): string {
  return /\s/.test(path) ? `"${path}"` : path;
}

interface KeyFiles {
  readonly identity: string | null;
  readonly knownHosts: string | null;
}

/** ssh_config(5) */
function connectionOptions({ identity, knownHosts }: KeyFiles): readonly string[] {
  const options = [
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "ExitOnForwardFailure=yes",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
    "ConnectTimeout=20",
    "ControlMaster=no",
    "ControlPath=none",
    "ForwardAgent=no",
    "ForwardX11=no",
    "PermitLocalCommand=no",
    "LogLevel=ERROR",
    ...(knownHosts === null
      ? []
      : [`UserKnownHostsFile=${quoted(knownHosts)}`, "GlobalKnownHostsFile=/dev/null"]),
    ...(identity === null ? [] : ["IdentitiesOnly=yes"]),
  ];
  return [...options.flatMap((option) => ["-o", option]), ...(identity === null ? [] : ["-i", identity])];
}

/** Logs in to the server of the configuration, if one is named there, and leaves at once. */
async function checkLogin({ ask, settings }: ToolQuestions): Promise<LoginVerdict> {
  const { host, port, identity_file: identity, known_hosts: knownHosts } = settings;
  if (typeof host !== "string" || !destination.test(host)) return { ok: true, text: null };
  const answer = await ask([
    "-T",
    ...connectionOptions({ identity: textOrNull(identity), knownHosts: textOrNull(knownHosts) }),
    ...(typeof port === "number" ? ["-p", String(port)] : []),
    "--",
    host,
    "exit",
  ]);
  // 255 is ssh's own; anything else comes from the far side, which let us in.
  if (answer !== null && answer.code !== null && answer.code !== 255)
    return { ok: true, text: `${host} lets us in` };
  const lines = (answer?.output ?? "").split("\n");
  const known = lines.map((line) => problems.find(({ pattern }) => pattern.test(line))).find(Boolean);
  return {
    ok: false,
    text: known?.text ?? `${host} cannot be logged in to${answer?.output ? ` (${lines[0]})` : ""}`,
    next: `Try it by hand: ssh ${host}`,
  };
}

function textOrNull(raw: unknown): string | null {
  return typeof raw === "string" ? raw : null;
}

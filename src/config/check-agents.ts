import { isAbsolute } from "node:path";
import type { ConfigProblem } from "./config-error.ts";
import { knownAgents } from "./known-agents.ts";
import type { RawConfig } from "./schema.ts";

/** Runtimes that are built in; an agent of the configuration is one of its own name beside them. */
const builtIn = ["shell", "replay", "acp", "model"];
const namePattern = /^[a-z0-9][a-z0-9_-]{0,31}$/i;
const nameText = "must be a name of letters, digits, - and _.";
const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** RFC 9110, section 5.6.2: a token. */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/** An agent's name becomes the name of a runtime in commands and on screens. */
export function checkAgents(raw: RawConfig): ConfigProblem | null {
  for (const [name, { command, args = [], env = {} }] of Object.entries(raw.agents ?? {})) {
    const key = `agents.${name}`;
    if (!namePattern.test(name)) return { key, message: nameText };
    if (builtIn.includes(name)) return { key, message: "is the name of a built-in runtime. Choose another." };
    const problem =
      commandProblem(`${key}.command`, command) ??
      wordsProblem(`${key}.args`, args) ??
      envProblem(`${key}.env`, env, variableName);
    if (problem !== null) return problem;
  }
  return null;
}

/** An MCP server is a program, or an address. */
export function checkMcpServers(raw: RawConfig): ConfigProblem | null {
  for (const [name, server] of Object.entries(raw.mcp_servers ?? {})) {
    const key = `mcp_servers.${name}`;
    if (!namePattern.test(name)) return { key, message: nameText };
    const { command, url, args, env, headers } = server;
    if ((command === undefined) === (url === undefined))
      return {
        key,
        message: "needs command (a program that agents start) or url (an address), one of them.",
      };
    if (url !== undefined && (args !== undefined || env !== undefined))
      return { key, message: "has a url: then args and env mean nothing. It may have headers." };
    if (command !== undefined && headers !== undefined)
      return { key, message: "has a command: then headers mean nothing. It may have args and env." };
    if (url !== undefined && !/^https?:\/\/[^\s]+$/.test(url))
      return { key: `${key}.url`, message: "must be an address that begins with https:// or http://." };
    const problem =
      (command === undefined ? null : commandProblem(`${key}.command`, command)) ??
      wordsProblem(`${key}.args`, args ?? []) ??
      envProblem(`${key}.env`, env ?? {}, variableName) ??
      envProblem(`${key}.headers`, headers ?? {}, headerName);
    if (problem !== null) return problem;
  }
  return null;
}

/** What runs in new tabs must exist, or be an agent that could be installed. */
export function checkRuntime(raw: RawConfig): ConfigProblem | null {
  const runtime = raw.daemon?.runtime ?? "shell";
  const known = ["shell", "replay", ...Object.keys(raw.agents ?? {})];
  if (known.includes(runtime) || knownAgents.some(({ name }) => name === runtime)) return null;
  return { key: "daemon.runtime", message: `is no runtime here. Known: ${known.join(", ")}.` };
}

/** A relative path would be another program in each folder. */
function commandProblem(key: string, command: string): ConfigProblem | null {
  if (command.includes("\0")) return { key, message: "must not hold a NUL character." };
  if (command.includes("/") && !isAbsolute(command) && !command.startsWith("~/"))
    return { key, message: "must be a program's name, an absolute path, or begin with ~/." };
  return null;
}

function wordsProblem(key: string, words: readonly string[]): ConfigProblem | null {
  return words.some((word) => word.includes("\0"))
    ? { key, message: "must not hold a NUL character." }
    : null;
}

function envProblem(
  key: string,
  values: Readonly<Record<string, string>>,
  pattern: RegExp,
): ConfigProblem | null {
  for (const [name, value] of Object.entries(values)) {
    if (!pattern.test(name)) return { key, message: "has a name that is none of a variable." };
    if (name.startsWith("SALLYPORT_"))
      return { key: `${key}.${name}`, message: "is a variable of ours; it is not passed on." };
    if (/[\0\r\n]/.test(value) && pattern === headerName)
      return { key: `${key}.${name}`, message: "must be one line." };
    if (value.includes("\0")) return { key: `${key}.${name}`, message: "must not hold a NUL character." };
  }
  return null;
}

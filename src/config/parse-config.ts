import { join } from "node:path";
import { parse, TomlError } from "smol-toml";
import { createChecker } from "../lib/checker.ts";
import { checkAgents, checkMcpServers, checkRuntime } from "./check-agents.ts";
import { checkOrigins, checkTls, checkTrustedProxies } from "./check-gate.ts";
import { checkDoors, checkHost, checkHosts } from "./check-listen.ts";
import { checkPaths, checkReplay } from "./check-paths.ts";
import { checkPush } from "./check-push.ts";
import {
  type Config,
  configDefaults,
  type DoorConfig,
  type McpServerConfig,
  type ProviderFields,
} from "./config.ts";
import { ConfigError, type ConfigProblem } from "./config-error.ts";
import { keyLine } from "./key-line.ts";
import { ConfigSchema, type RawConfig, tunnelProviders } from "./schema.ts";
import { schemaProblem } from "./schema-problem.ts";

export interface ParseConfigOptions {
  /** Shown in errors. */
  readonly path: string;
  /** What `~/` stands for, and the default of `daemon.browse_root`. */
  readonly userHome: string;
  /** What is wrong with one rule, or null; absent: rules are taken as they are. */
  readonly ruleProblem?: ((rawRule: string) => string | null) | undefined;
}

export const maxConfigBytes = 256 * 1024;

const checks: readonly ((raw: RawConfig) => ConfigProblem | null)[] = [
  checkHost,
  checkHosts,
  checkOrigins,
  checkTrustedProxies,
  checkTls,
  checkDoors,
  checkPaths,
  checkAgents,
  checkMcpServers,
  checkReplay,
  checkRuntime,
  checkPush,
];

const config = createChecker(ConfigSchema);

/**
 * Parses the text of `config.toml` whole: syntax, keys, types, rules between options, defaults. Nothing of a wrong file
 * is used.
 *
 * @throws ConfigError that names file, line and key, and says the next step
 */
export function parseConfig(text: string, options: ParseConfigOptions): Config {
  if (Buffer.byteLength(text) > maxConfigBytes)
    throw new ConfigError(`${options.path} is larger than ${maxConfigBytes / 1024} KiB.`);
  const raw = parseToml(text, options.path);
  if (!config.check(raw)) refuse(schemaProblem(raw, config.compiled().Errors(raw)), text, options.path);
  const valid: RawConfig = raw;
  for (const check of checks) {
    const problem = check(valid);
    if (problem !== null) refuse(problem, text, options.path);
  }
  const wrongRule = checkRules(valid, options.ruleProblem);
  if (wrongRule !== null) refuse(wrongRule, text, options.path);
  return deepFreeze(withDefaults(valid, options.userHome));
}

function parseToml(text: string, path: string): unknown {
  try {
    return parse(text, { maxDepth: 32 });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split("\n")[0]?.replace("Invalid TOML document: ", "") ?? "";
    throw new ConfigError(`${path} line ${error.line}: ${reason}.`, { line: error.line, cause: error });
  }
}

function refuse(problem: ConfigProblem, text: string, path: string): never {
  const line = keyLine(text, problem.key.split("."));
  const where = line === null ? path : `${path} line ${line}`;
  const name = problem.key.replace(/\.(\d+)(?=\.|$)/g, (_, index) => `[${Number(index) + 1}]`);
  throw new ConfigError(`${where}: ${name} ${problem.message}`, { key: problem.key, line });
}

function checkRules(raw: RawConfig, ruleProblem: ParseConfigOptions["ruleProblem"]): ConfigProblem | null {
  if (!ruleProblem) return null;
  for (const list of ["allow", "deny"] as const)
    for (const [index, rule] of (raw.rules?.[list] ?? []).entries()) {
      const message = ruleProblem(rule);
      if (message !== null) return { key: `rules.${list}.${index}`, message };
    }
  return null;
}

function withDefaults(raw: RawConfig, userHome: string): Config {
  const path = (written: string) =>
    written === "~" || written.startsWith("~/") ? join(userHome, written.slice(1)) : written;
  return {
    port: raw.port ?? configDefaults.port,
    host: raw.host ?? null,
    hosts: (raw.hosts ?? []).map((host) => host.toLowerCase().replace(/\.$/, "")),
    origins: raw.origins ?? [],
    trustedProxies: raw.trusted_proxies ?? [],
    browseRoot: path(raw.daemon?.browse_root ?? userHome),
    idleMinutes: raw.daemon?.idle_minutes ?? configDefaults.idleMinutes,
    runtime: raw.daemon?.runtime ?? Object.keys(raw.agents ?? {})[0] ?? configDefaults.runtime,
    tls:
      raw.tls?.cert !== undefined && raw.tls.key !== undefined
        ? { certPath: path(raw.tls.cert), keyPath: path(raw.tls.key) }
        : null,
    doors: (raw.door ?? []).map(
      (door, index): DoorConfig => ({
        name: `door-${index + 1}`,
        listen:
          typeof door.listen === "number"
            ? { kind: "port", port: door.listen }
            : { kind: "socket", path: path(door.listen) },
        url: door.url.replace(/\/+$/, ""),
      }),
    ),
    rules: { allow: raw.rules?.allow ?? [], deny: raw.rules?.deny ?? [] },
    mewDetachGraceSeconds: raw.mew?.detach_grace ?? configDefaults.mewDetachGraceSeconds,
    jobs: {
      maxLogBytes: raw.jobs?.max_log_bytes ?? configDefaults.maxLogBytes,
      maxTotalBytes: raw.jobs?.max_total_bytes ?? configDefaults.maxTotalBytes,
      keepDays: raw.jobs?.keep_days ?? configDefaults.keepDays,
    },
    push: {
      afterMs: (raw.push?.after_seconds ?? configDefaults.pushAfterSeconds) * 1_000,
      contact: raw.push?.contact ?? configDefaults.pushContact,
      insecurePrivateEndpoints: raw.push?.insecure_private_endpoints ?? false,
    },
    agents: Object.fromEntries(
      Object.entries(raw.agents ?? {}).map(([name, agent]) => [
        name,
        { command: path(agent.command), args: agent.args ?? null, env: agent.env ?? {} },
      ]),
    ),
    mcpServers: Object.fromEntries(
      Object.entries(raw.mcp_servers ?? {}).map(([name, server]): [string, McpServerConfig] => [
        name,
        server.url === undefined
          ? {
              kind: "stdio",
              command: path(server.command ?? ""),
              args: server.args ?? [],
              env: server.env ?? {},
            }
          : { kind: "http", url: server.url, headers: server.headers ?? {} },
      ]),
    ),
    replayScripts: Object.fromEntries(
      Object.entries(raw.replay ?? {}).map(([name, { script }]) => [name, path(script)]),
    ),
    tunnel: {
      insecureHttp: raw.tunnel?.insecure_http ?? false,
      probeAddress: raw.tunnel?.probe_address ?? null,
      probeCaPath: raw.tunnel?.probe_ca === undefined ? null : path(raw.tunnel.probe_ca),
      providers: providerFields(raw),
    },
  };
}

function providerFields(raw: RawConfig): Record<string, ProviderFields> {
  const providers: Record<string, ProviderFields> = {};
  for (const name of [...tunnelProviders, "command"] as const) {
    const fields = raw.tunnel?.[name];
    if (fields !== undefined) providers[name] = fields as ProviderFields;
  }
  return providers;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const child of Object.values(value)) deepFreeze(child);
    Object.freeze(value);
  }
  return value;
}

import type { TSchema } from "typebox";
import type { Config } from "./config.ts";
import { ConfigSchema } from "./schema.ts";

/** A setting that always has a row, whether the file names it or not. */
export interface KnownSetting {
  readonly key: string;
  readonly description: string;
  /** True where a device with `admin` may write it: it names no program, no path and no part of the gate. */
  readonly deviceMayWrite: boolean;
  readonly read: (config: Config) => unknown;
}

const masterOnly = (key: string, description: string, read: KnownSetting["read"]): KnownSetting => ({
  key,
  description,
  deviceMayWrite: false,
  read,
});
const anyAdmin = (key: string, description: string, read: KnownSetting["read"]): KnownSetting => ({
  key,
  description,
  deviceMayWrite: true,
  read,
});

export const knownSettings: readonly KnownSetting[] = [
  masterOnly("port", "Port of the main door; 0 picks a free one.", (config) => config.port),
  masterOnly("host", "Address that is bound when remote access is on.", (config) => config.host),
  masterOnly("hosts", "Further names of this machine.", (config) => config.hosts),
  masterOnly("origins", "Web origins that may connect, beside our own.", (config) => config.origins),
  masterOnly("trusted_proxies", "Proxies whose headers name the client.", (config) => config.trustedProxies),
  masterOnly("daemon.browse_root", "Folder below which devices may look.", (config) => config.browseRoot),
  anyAdmin(
    "daemon.idle_minutes",
    "Minutes without work after which the daemon ends; 0: never.",
    (config) => config.idleMinutes,
  ),
  masterOnly("daemon.runtime", "What runs in new tabs.", (config) => config.runtime),
  masterOnly("tls.cert", "Certificate file for remote access.", (config) => config.tls?.certPath ?? null),
  masterOnly("tls.key", "Key file of the certificate.", (config) => config.tls?.keyPath ?? null),
  masterOnly("rules.allow", "Calls that run without a question.", (config) => config.rules.allow),
  masterOnly("rules.deny", "Calls that never run.", (config) => config.rules.deny),
  anyAdmin(
    "mew.detach_grace",
    "Seconds until a session without clients is unloaded; -1: never.",
    (config) => config.mewDetachGraceSeconds,
  ),
  anyAdmin("jobs.max_log_bytes", "Most bytes that one job may print.", (config) => config.jobs.maxLogBytes),
  anyAdmin("jobs.max_total_bytes", "Most bytes of all job logs.", (config) => config.jobs.maxTotalBytes),
  anyAdmin("jobs.keep_days", "Days that ended jobs are kept.", (config) => config.jobs.keepDays),
  anyAdmin(
    "push.after_seconds",
    "Seconds that something is left unanswered before phones are told.",
    (config) => config.push.afterMs / 1_000,
  ),
  masterOnly("push.contact", "Whom push services may write to.", (config) => config.push.contact),
  masterOnly(
    "push.insecure_private_endpoints",
    "Sends notifications to addresses of private networks too.",
    (config) => config.push.insecurePrivateEndpoints,
  ),
  masterOnly(
    "tunnel.insecure_http",
    "Takes tunnel addresses without TLS.",
    (config) => config.tunnel.insecureHttp,
  ),
  masterOnly(
    "tunnel.probe_address",
    "Where a tunnel's address is dialled.",
    (config) => config.tunnel.probeAddress,
  ),
  masterOnly(
    "tunnel.probe_ca",
    "Authority that signed the tunnel's certificate.",
    (config) => config.tunnel.probeCaPath,
  ),
];

interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly additionalProperties?: TSchema | boolean;
  readonly items?: SchemaNode;
}

/** Keys of single values that the schema knows and `knownSettings` says nothing of: shown as they are, for the master to write. */
export function otherSettings(): readonly string[] {
  const known = new Set(knownSettings.map((setting) => setting.key));
  const tables = ConfigSchema.properties as Readonly<Record<string, SchemaNode>>;
  return Object.entries(tables)
    .flatMap(([name, node]) =>
      node.type === "object" ? Object.keys(node.properties ?? {}).map((field) => `${name}.${field}`) : [name],
    )
    .filter((key) => !known.has(key) && settingSchema(key.split(".")) !== null);
}

/** The schema of one value of the file; null for a key that does not exist, or that is a table. */
export function settingSchema(path: readonly string[]): TSchema | null {
  let schema: TSchema = ConfigSchema;
  for (const part of path) {
    const node = schema as SchemaNode;
    const own = Object.hasOwn(node.properties ?? {}, part) ? node.properties?.[part] : undefined;
    const pattern = Object.values(node.patternProperties ?? {})[0];
    const extra = typeof node.additionalProperties === "object" ? node.additionalProperties : undefined;
    const next = own ?? pattern ?? extra;
    if (!next) return null;
    schema = next;
  }
  const { type, items } = schema as SchemaNode;
  return type === "object" || items?.type === "object" ? null : schema;
}

/** Environment of agents and MCP servers, and what a tunnel's account is opened with. */
export function isSecretSetting(path: readonly string[]): boolean {
  const [section, , field = ""] = path;
  if (section === "agents") return field === "env";
  if (section === "mcp_servers") return field === "env" || field === "headers";
  return section === "tunnel" && /token|secret|password|auth|credential|key/i.test(field);
}

/** Words of a command line, and the address of an MCP server: often no secret, sometimes one. */
export function mayHoldSecret(path: readonly string[]): boolean {
  const [section, , field] = path;
  return (
    ((section === "agents" || section === "mcp_servers") && field === "args") ||
    (section === "mcp_servers" && field === "url") ||
    (section === "tunnel" && field === "command")
  );
}

import type { Config } from "./config.ts";

/** When a changed setting of a running daemon counts. `next use`: what was started with it before goes on with it. */
export type ChangeCounts = "at once" | "next use" | "after stop and start";

interface SettingEffect {
  readonly counts: ChangeCounts;
  readonly value: (config: Config) => unknown;
}

/** The keys and tables of `config.toml`; whatever is below one counts as it does. */
export const settingEffects: Readonly<Record<string, SettingEffect>> = {
  port: { counts: "after stop and start", value: (config) => config.port },
  host: { counts: "at once", value: (config) => config.host },
  hosts: { counts: "at once", value: (config) => config.hosts },
  origins: { counts: "at once", value: (config) => config.origins },
  trusted_proxies: { counts: "at once", value: (config) => config.trustedProxies },
  "daemon.browse_root": { counts: "at once", value: (config) => config.browseRoot },
  "daemon.idle_minutes": { counts: "at once", value: (config) => config.idleMinutes },
  "daemon.runtime": { counts: "at once", value: (config) => config.runtime },
  tls: { counts: "at once", value: (config) => config.tls },
  door: { counts: "at once", value: (config) => config.doors },
  rules: { counts: "at once", value: (config) => config.rules },
  mew: { counts: "at once", value: (config) => config.mewDetachGraceSeconds },
  jobs: { counts: "at once", value: (config) => config.jobs },
  agents: { counts: "next use", value: (config) => config.agents },
  push: { counts: "at once", value: (config) => config.push },
  mcp_servers: { counts: "next use", value: (config) => config.mcpServers },
  replay: { counts: "next use", value: (config) => config.replayScripts },
  tunnel: { counts: "next use", value: (config) => config.tunnel },
};

/** The keys of `settingEffects` whose values differ. */
export function changedSettings(before: Config, after: Config): readonly string[] {
  return Object.entries(settingEffects)
    .filter(([, { value }]) => JSON.stringify(value(before)) !== JSON.stringify(value(after)))
    .map(([key]) => key);
}

/** What a running daemon goes by when it was given `next`: what counts after a start only stays as it is. */
export function configInEffect(running: Config, next: Config): Config {
  return Object.freeze({ ...next, port: running.port });
}

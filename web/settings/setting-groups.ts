import type { Setting } from "../../src/protocol/rest-objects.ts";

export interface SettingGroup {
  readonly title: string;
  readonly settings: readonly Setting[];
}

const titles: Readonly<Record<string, string>> = {
  "": "The daemon's address",
  daemon: "Daemon",
  jobs: "Jobs",
  rules: "Rules",
  mew: "mew clients",
  push: "Notifications",
  tls: "TLS",
  door: "Doors",
  agents: "Agents",
  mcp_servers: "MCP servers",
  tunnel: "Tunnels",
  replay: "Replays",
};

/** Settings by the table of the file that they are in, in the order of the file's description. */
export function groupSettings(settings: readonly Setting[]): readonly SettingGroup[] {
  const groups = new Map<string, Setting[]>();
  for (const setting of settings) {
    const [first = "", ...rest] = setting.key.split(".");
    const table = rest.length > 0 || titles[first] !== undefined ? first : "";
    const group = groups.get(table) ?? [];
    groups.set(table, group);
    group.push(setting);
  }
  return [...groups].map(([table, list]) => ({ title: titles[table] ?? table, settings: list }));
}

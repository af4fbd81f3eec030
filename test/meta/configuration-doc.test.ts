import { describe, expect, it } from "vitest";
import { configDefaults } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse-config.ts";
import { ConfigSchema } from "../../src/config/schema.ts";
import { settingEffects } from "../../src/config/setting-effects.ts";
import { readRepoFile } from "./sources.ts";

interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

/** Every key that a person can write: `door[].listen`, `agents.NAME.command`. A table of texts is a value. */
function keysOf(node: SchemaNode, path: string): readonly string[] {
  const below = path === "" ? "" : `${path}.`;
  if (node.properties)
    return Object.entries(node.properties).flatMap(([key, child]) => keysOf(child, `${below}${key}`));
  if (node.items?.type === "object") return keysOf(node.items, `${path}[]`);
  const [pattern] = Object.values(node.patternProperties ?? {});
  return pattern?.type === "object" ? keysOf(pattern, `${below}NAME`) : [path];
}

const rows = [
  ...readRepoFile("docs/configuration.md").matchAll(/^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|/gm),
].map((row) => ({ key: row[1] ?? "", shown: row[2] ?? "", counts: row[3] ?? "" }));

describe("docs/configuration.md", () => {
  it("has a row for every key of the schema, and no other", () => {
    expect(rows.map(({ key }) => key).sort()).toEqual([...keysOf(ConfigSchema as SchemaNode, "")].sort());
  });

  it.each(rows)("says when a change of $key counts", ({ key, counts }) => {
    const [setting] = Object.keys(settingEffects)
      .filter((each) => key === each || key.startsWith(`${each}.`) || key.startsWith(`${each}[`))
      .sort((a, b) => b.length - a.length);
    expect(counts).toBe(settingEffects[setting ?? ""]?.counts);
  });

  it("shows the defaults that the program has", () => {
    const shown = rows
      .filter(({ shown: text }) => text.startsWith("`"))
      .map(({ key, shown: text }) => [key, text]);
    const { port, idleMinutes, mewDetachGraceSeconds, maxLogBytes, maxTotalBytes, keepDays } = configDefaults;
    expect(Object.fromEntries(shown)).toEqual({
      port: `\`${port}\``,
      hosts: "`[]`",
      origins: "`[]`",
      trusted_proxies: "`[]`",
      "daemon.idle_minutes": `\`${idleMinutes}\``,
      "push.after_seconds": `\`${configDefaults.pushAfterSeconds}\``,
      "push.contact": `\`"${configDefaults.pushContact}"\``,
      "push.insecure_private_endpoints": "`false`",
      "rules.allow": "`[]`",
      "rules.deny": "`[]`",
      "mew.detach_grace": `\`${mewDetachGraceSeconds}\``,
      "jobs.max_log_bytes": `\`${maxLogBytes}\``,
      "jobs.max_total_bytes": `\`${maxTotalBytes}\``,
      "jobs.keep_days": `\`${keepDays}\``,
      "agents.NAME.env": "`{}`",
      "mcp_servers.NAME.args": "`[]`",
      "mcp_servers.NAME.env": "`{}`",
      "mcp_servers.NAME.headers": "`{}`",
      "tunnel.insecure_http": "`false`",
    });
  });

  it("has an example that the daemon accepts", () => {
    const example = readRepoFile("examples/config.toml");
    expect(() => parseConfig(example, { path: "config.toml", userHome: "/home/x" })).not.toThrow();
  });
});

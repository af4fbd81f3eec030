import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/parse-config.ts";
import { ConfigSchema } from "../../src/config/schema.ts";
import { changedSettings, configInEffect, settingEffects } from "../../src/config/setting-effects.ts";

const parse = (text: string) => parseConfig(text, { path: "config.toml", userHome: "/home/x" });

describe("settingEffects", () => {
  it("say of every key of the schema when a change counts, and of nothing else", () => {
    const keys = Object.entries(ConfigSchema.properties).flatMap(([key, schema]) =>
      key in settingEffects
        ? [key]
        : Object.keys((schema as { properties?: object }).properties ?? {}).map((inner) => `${key}.${inner}`),
    );
    expect(keys.sort()).toEqual(Object.keys(settingEffects).sort());
  });

  it.each([
    ["port = 1", "port"],
    ['host = "192.168.1.20"', "host"],
    ['hosts = ["a"]', "hosts"],
    ['origins = ["https://a.example"]', "origins"],
    ['trusted_proxies = ["10.0.0.1"]', "trusted_proxies"],
    ['[daemon]\nbrowse_root = "/srv"', "daemon.browse_root"],
    ["[daemon]\nidle_minutes = 1", "daemon.idle_minutes"],
    ['[daemon]\nruntime = "replay"', "daemon.runtime"],
    ['[tls]\ncert = "/c"\nkey = "/k"', "tls"],
    ['[[door]]\nlisten = 9000\nurl = "https://a.example"', "door"],
    ['[rules]\ndeny = ["bash(rm *)"]', "rules"],
    ["[mew]\ndetach_grace = 1", "mew"],
    ["[jobs]\nkeep_days = 1", "jobs"],
    ["[push]\nafter_seconds = 5", "push"],
    ['[daemon]\nruntime = "shell"\n[agents.x]\ncommand = "x"', "agents"],
    ['[mcp_servers.x]\nurl = "https://x.example"', "mcp_servers"],
    ['[replay.tour]\nscript = "/srv/tour.jsonl"', "replay"],
    ["[tunnel]\ninsecure_http = true", "tunnel"],
  ])("see the change of %j", (text, key) => {
    expect(changedSettings(parse(""), parse(text))).toEqual([key]);
    expect(changedSettings(parse(text), parse(text))).toEqual([]);
  });
});

describe("configInEffect", () => {
  it("takes over all but what counts after a start only", () => {
    const running = parse("port = 7801\n");
    const inEffect = configInEffect(running, parse('port = 7802\nhosts = ["a"]\n'));
    expect(inEffect).toMatchObject({ port: 7_801, hosts: ["a"] });
    const late = Object.entries(settingEffects).filter(([, { counts }]) => counts === "after stop and start");
    expect(late.map(([key]) => key)).toEqual(["port"]);
  });
});

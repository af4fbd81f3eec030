import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../src/config/config-error.ts";
import { parseConfig } from "../../src/config/parse-config.ts";

const options = { path: "config.toml", userHome: "/home/ada" };
const parse = (text: string) => parseConfig(text, options);

function refusal(text: string): ConfigError {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error(`was accepted: ${text}`);
}

describe("parseConfig", () => {
  it("gives the defaults for an empty file", () => {
    expect(parse("")).toEqual({
      port: 7700,
      host: null,
      hosts: [],
      origins: [],
      trustedProxies: [],
      browseRoot: "/home/ada",
      idleMinutes: 120,
      runtime: "shell",
      tls: null,
      doors: [],
      rules: { allow: [], deny: [] },
      mewDetachGraceSeconds: 30,
      jobs: { maxLogBytes: 2 ** 30, maxTotalBytes: 10 * 2 ** 30, keepDays: 30 },
      push: {
        afterMs: 15_000,
        contact: "https://www.npmjs.com/package/sallyport",
        insecurePrivateEndpoints: false,
      },
      agents: {},
      mcpServers: {},
      replayScripts: {},
      tunnel: { insecureHttp: false, probeAddress: null, probeCaPath: null, providers: {} },
    });
  });

  it("takes the example, and the example with every line in it switched on", () => {
    const example = readFileSync(new URL("../../examples/config.toml", import.meta.url), "utf8");
    expect(parse(example).rules.deny).toEqual(["bash(sudo *)"]);
    const full = parse(example.replace(/^# (?=[a-z[])/gm, ""));
    expect(full.doors).toEqual([
      { name: "door-1", listen: { kind: "port", port: 7801 }, url: "https://box.example" },
    ]);
    expect(full.tls).toEqual({ certPath: "/home/ada/certs/box.pem", keyPath: "/home/ada/certs/box.key" });
    expect(full.browseRoot).toBe("/home/ada/src");
    expect(full.agents.reviewer?.args).toEqual(["--acp"]);
    expect(full.runtime).toBe("replay");
    expect(full.replayScripts).toEqual({ tour: "/home/ada/sallyport/examples/replay/tour.jsonl" });
    expect(Object.keys(full.tunnel.providers)).toEqual(["cloudflared", "command"]);
  });

  it("freezes what it gives, to the bottom", () => {
    const config = parse('hosts = ["box"]\n[[door]]\nlisten = 9000\nurl = "https://x.example/"');
    expect(() => (config.hosts as string[]).push("evil")).toThrow(TypeError);
    expect(() => Object.assign(config.doors[0] ?? {}, { url: "https://evil.example" })).toThrow(TypeError);
    expect(config.doors[0]?.url).toBe("https://x.example");
  });

  it.each([
    ["prot = 1", "prot", 1, "Did you mean port?"],
    ["port = 1\n\n[daemon]\nidle_minute = 5", "daemon.idle_minute", 4, "Did you mean daemon.idle_minutes?"],
    ["[deamon]\nidle_minutes = 5", "deamon", 1, "Did you mean daemon?"],
    ["trusted-proxies = []", "trusted-proxies", 1, "Did you mean trusted_proxies?"],
    ["zebra = 1", "zebra", 1, "Known here: port"],
    ["[[doors]]\nlisten = 1", "doors", 1, "Did you mean door?"],
    [
      "[[door]]\nlisten = 9000\nurl='https://a.example'\n[[door]]\nlisten=9001\nuri='x'",
      "door.1.uri",
      6,
      "Did you mean door.url?",
    ],
    ["[tunnel.clodflared]\nbinary='x'", "tunnel.clodflared", 1, "Did you mean tunnel.cloudflared?"],
  ])("refuses the unknown key of %j with the nearest known one", (text, key, line, hint) => {
    const error = refusal(text);
    expect(error).toMatchObject({ key, line });
    expect(error.message).toContain(hint);
    expect(error.message).toContain(`config.toml line ${line}`);
  });

  it.each([
    ['port = "7700"', "port", "a whole number from 0 to 65535; it is a text"],
    ["port = 70000", "port", "it is 70000"],
    ["port = 1.5", "port", "it is 1.5"],
    ['hosts = "box"', "hosts", "a list of texts"],
    ["hosts = [1]", "hosts.0", "it is 1"],
    ["[door]\nlisten = 9000", "door", "[[…]]"],
    ["[[door]]\nlisten = 9000", "door.0.url", "is missing"],
    ["[[door]]\nlisten = 0\nurl='https://x.example'", "door.0.listen", "must be"],
    ["[agents.a]\nargs = []", "agents.a.command", "is missing"],
    ["[jobs]\nmax_log_bytes = 1", "jobs.max_log_bytes", "at least 4096"],
    ["[daemon]\nidle_minutes = -1", "daemon.idle_minutes", "from 0"],
    ["[tunnel.command]\ncommand = []", "tunnel.command.command", "must be"],
  ])("refuses the wrong value of %j and says what is expected", (text, key, hint) => {
    const error = refusal(text);
    expect(error.key).toBe(key);
    expect(error.message).toContain(hint);
  });

  it.each([
    ['host = ""', "host", "is empty"],
    ['host = "  "', "host", "is empty"],
    ['host = "http://x"', "host", "without scheme"],
    ['host = "[::1]"', "host", "brackets"],
    ['hosts = ["box:7700"]', "hosts.0", "without scheme, port"],
    ['hosts = ["*.example"]', "hosts.0", "wildcard"],
    ['origins = ["*"]', "origins.0", "as a browser sends it"],
    ['origins = ["null"]', "origins.0", "as a browser sends it"],
    ['origins = ["https://x.example/"]', "origins.0", "as a browser sends it"],
    ['origins = ["https://X.example"]', "origins.0", "lower case"],
    ['origins = ["https://x.example:443"]', "origins.0", "default port"],
    ['trusted_proxies = ["banana"]', "trusted_proxies.0", "an IP address or a range"],
    ['trusted_proxies = ["10.0.0.0/33"]', "trusted_proxies.0", "an IP address or a range"],
    ['trusted_proxies = ["127.1"]', "trusted_proxies.0", "an IP address or a range"],
    ['trusted_proxies = ["0.0.0.0/0"]', "trusted_proxies.0", "every address"],
    ["[replay.'a b']\nscript = '/x'", "replay.a b", "letters, digits"],
    ["[replay.tour]\nscript = 'tour.jsonl'", "replay.tour.script", "absolute path"],
    ["[daemon]\nruntime = 'magic'", "daemon.runtime", "Known: shell, replay."],
    ["[agents.replay]\ncommand = 'x'", "agents.replay", "built-in runtime"],
    ["[tls]\ncert = '/c.pem'", "tls.key", "cert and key"],
    ["[tls]\nkey = '/k.pem'", "tls.cert", "cert and key"],
    ["[tls]\ncert = 'c.pem'\nkey = '/k.pem'", "tls.cert", "absolute path"],
    ["[[door]]\nlisten = 'run/x.sock'\nurl = 'https://x.example'", "door.0.listen", "absolute path"],
    ["[[door]]\nlisten = 7700\nurl = 'https://x.example'", "door.0.listen", "main door"],
    ["port = 9000\n[[door]]\nlisten = 9000\nurl = 'https://x.example'", "door.0.listen", "main door"],
    [
      "[[door]]\nlisten=1\nurl='https://x.example'\n[[door]]\nlisten=1\nurl='https://y.example'",
      "door.1.listen",
      "another door",
    ],
    ["[[door]]\nlisten = 9000\nurl = 'x.example'", "door.0.url", "public base address"],
    ["[[door]]\nlisten = 9000\nurl = 'https://a:b@x.example'", "door.0.url", "password"],
    ["[[door]]\nlisten = 9000\nurl = 'https://x.example/?a=b'", "door.0.url", "query"],
    ["[[door]]\nlisten = 9000\nurl = 'ftp://x.example'", "door.0.url", "public base address"],
    ["[daemon]\nbrowse_root = 'src'", "daemon.browse_root", "absolute path"],
    ["[agents.shell]\ncommand = 'x'", "agents.shell", "built-in"],
    ["[agents.'a b']\ncommand = 'x'", "agents.a b", "letters"],
    ["[agents.x]\ncommand = './x'", "agents.x.command", "absolute path"],
    ["[agents.x]\ncommand = 'x'\nargs = [\"a\\u0000\"]", "agents.x.args", "NUL"],
    ["[agents.x]\ncommand = 'x'\nenv = {'A B' = 'c'}", "agents.x.env", "none of a variable"],
    ["[agents.x]\ncommand = 'x'\nenv = {SALLYPORT_HOME = '/'}", "agents.x.env.SALLYPORT_HOME", "ours"],
    ["[mcp_servers.x]", "mcp_servers.x", "needs command"],
    ["[mcp_servers.'a b']\ncommand = 'x'", "mcp_servers.a b", "letters"],
    ["[mcp_servers.x]\ncommand = 'x'\nurl = 'https://x'", "mcp_servers.x", "one of them"],
    ["[mcp_servers.x]\ncommand = 'x'\nheaders = {}", "mcp_servers.x", "headers mean nothing"],
    ["[mcp_servers.x]\nurl = 'https://x'\nenv = {}", "mcp_servers.x", "args and env mean nothing"],
    ["[mcp_servers.x]\nurl = 'ftp://x'", "mcp_servers.x.url", "https://"],
    ["[mcp_servers.x]\nurl = 'https://x'\nheaders = {'a:' = 'b'}", "mcp_servers.x.headers", "none of"],
    ["[mcp_servers.x]\nurl = 'https://x'\nheaders = {a = \"b\\nc\"}", "mcp_servers.x.headers.a", "one line"],
    ["[mcp_servers.x]\nserver = 'x'", "mcp_servers.x.server", "not a setting"],
  ])("refuses %j by a rule of its own", (text, key, hint) => {
    const error = refusal(text);
    expect(error.key).toBe(key);
    expect(error.message).toContain(hint);
  });

  it.each([
    ['origins = ["https://x.example:8443", "chrome-extension://abcdef", "http://[::1]:3000"]'],
    ['trusted_proxies = ["10.0.0.0/8", "::1", "fd00::/8", "192.0.2.1"]'],
    ['hosts = ["Box.LAN.", "192.168.1.2", "fd00::1"]'],
    ["[tunnel.ssh]\nbinary = '/usr/bin/ssh'\nhost = 'me@box'\nremote_port = 9000"],
    ["[mew]\ndetach_grace = -1"],
    ["[[door]]\nlisten = '/run/user/1000/sallyport.sock'\nurl = 'https://x.example/base'"],
  ])("accepts %j", (text) => {
    expect(() => parse(text)).not.toThrow();
  });

  it("says on which line the file is no TOML", () => {
    expect(refusal("port = 1\nhost = ")).toMatchObject({ line: 2, key: null });
    expect(refusal("port = 1\nport = 2").message).toContain("config.toml line 2");
  });

  it("refuses a wrong rule with what the rule parser says", () => {
    const withRules = () =>
      parseConfig('[rules]\nallow = ["bash(ls)", "bash("]', {
        ...options,
        ruleProblem: (rule) => (rule.endsWith(")") ? null : "is no rule."),
      });
    expect(withRules).toThrow("config.toml line 2: rules.allow[2] is no rule.");
  });

  it("refuses a file over its bound without parsing it", () => {
    expect(refusal(`# ${"x".repeat(256 * 1024)}`).message).toContain("larger than 256 KiB");
  });

  it("answers any text with a configuration or a ConfigError", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(..."[]=.\"'#\n ab1{},:-_") })),
        (text) => {
          try {
            parse(text);
          } catch (error) {
            expect(error).toBeInstanceOf(ConfigError);
          }
        },
      ),
    );
  });

  it("does not recurse without end into nested arrays", () => {
    expect(refusal(`hosts = ${"[".repeat(5_000)}${"]".repeat(5_000)}`)).toBeInstanceOf(ConfigError);
  });
});

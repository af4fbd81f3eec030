import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkTunnelTools } from "../../src/cli/checks/check-tunnel.ts";
import { parseTcpTable } from "../../src/cli/checks/listeners.ts";
import { homePaths } from "../../src/config/home-paths.ts";
import { loadConfig } from "../../src/config/load-config.ts";

let home: string;
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "sallyport-checks-")));
  await mkdir(join(home, "tools"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** What doctor says of the one tool `name`, which is this script. */
async function finding(name: string, script: string, settings = "", env: Record<string, string> = {}) {
  const path = join(home, "tools", name);
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const lines = name === "command" ? settings : `binary = "${path}"\n${settings}`;
  await writeFile(join(home, "config.toml"), `[tunnel.${name}]\n${lines}\n`, { mode: 0o600 });
  const config = await loadConfig(join(home, "config.toml"));
  const findings = await checkTunnelTools(homePaths(home), { PATH: "/usr/bin:/bin", ...env }, config);
  return findings.find(({ message }) => message.includes(path)) ?? findings;
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64");
const cloudflareToken = base64({ a: "1", t: "2", s: "3" });
const version = 'case "$1" in --version|version|-V) echo "tool version 2026.1"; exit 0;; esac';

describe("doctor's checks of tunnel tools", () => {
  it.each<[string, string, string, string, string, string]>([
    ["cloudflared without settings", "cloudflared", version, "", "ok", "quick tunnels need no login"],
    [
      "cloudflared with token and hostname",
      "cloudflared",
      version,
      `token = "${cloudflareToken}"\nhostname = "sally.example"`,
      "ok",
      "has a token for sally.example",
    ],
    [
      "cloudflared with something else as token",
      "cloudflared",
      version,
      'token = "not-a-token-at-all"\nhostname = "sally.example"',
      "warn",
      "no token of a tunnel",
    ],
    [
      "cloudflared with half of it",
      "cloudflared",
      version,
      'hostname = "sally.example"',
      "warn",
      "has no token",
    ],
    [
      "tailscale that is logged in",
      "tailscale",
      `${version}; echo "100.64.0.1 stopped-box me linux -"`,
      "",
      "ok",
      "logged in",
    ],
    [
      "tailscale that is logged out",
      "tailscale",
      `${version}; echo "Logged out."; exit 1`,
      "",
      "warn",
      "nobody is logged in",
    ],
    [
      "tailscale that is switched off",
      "tailscale",
      `${version}; echo "Tailscale is stopped."; exit 1`,
      "",
      "warn",
      "switched off",
    ],
    [
      "tailscale without its service",
      "tailscale",
      `${version}; echo "failed to connect to local tailscaled; it doesn't appear to be running" >&2; exit 1`,
      "",
      "warn",
      "its service does not run",
    ],
    [
      "tailscale that fails in another way",
      "tailscale",
      `${version}; exit 3`,
      "",
      "warn",
      "does not tell its status",
    ],
    [
      "ngrok with an authtoken in the configuration",
      "ngrok",
      version,
      'authtoken = "2abcDEFghiJKL"',
      "ok",
      "config.toml",
    ],
    [
      "ngrok that has no file",
      "ngrok",
      `${version}; echo "ERROR:  open ngrok.yml: no such file"; exit 1`,
      "",
      "warn",
      "no authtoken",
    ],
    ["ssh without a server", "ssh", version, "", "ok", "tool version 2026.1"],
    [
      "ssh that the server lets in",
      "ssh",
      `${version}; exit 1`,
      'host = "me@box.example"',
      "ok",
      "me@box.example lets us in",
    ],
    [
      "ssh without a key that counts",
      "ssh",
      `${version}; echo "me@box.example: Permission denied (publickey)." >&2; exit 255`,
      'host = "me@box.example"',
      "warn",
      "none of the keys",
    ],
    [
      "ssh that cannot get there",
      "ssh",
      `${version}; echo "connect to host box.example port 22: No route to host" >&2; exit 255`,
      'host = "me@box.example"',
      "warn",
      "No route to host",
    ],
    ["a tool that fails at its version", "ngrok", "exit 1", "", "warn", "does not tell its version"],
    ["a tool that floods", "ngrok", "yes version", "", "warn", "does not tell its version"],
    [
      "a tool that reads its input",
      "ngrok",
      `cat; ${version}`,
      'authtoken = "2abcDEFghiJKL"',
      "ok",
      "2026.1",
    ],
  ])("%s", async (_, name, script, settings, state, says) => {
    const found = await finding(name, script, settings);
    expect(found).toMatchObject({ state, message: expect.stringContaining(says) });
    if (state === "warn") expect(found).toMatchObject({ next: expect.stringMatching(/\S/) });
  });

  it.each([
    ["with an authtoken", "version: 3\nagent:\n  authtoken: 2abc\n", "ok"],
    ["without one", "version: 3\n", "warn"],
  ])("ngrok whose own file is %s", async (_, text, state) => {
    const file = join(home, "ngrok.yml");
    await writeFile(file, text);
    const script = `${version}; echo "Valid configuration file at ${file}"`;
    expect(await finding("ngrok", script)).toMatchObject({ state });
  });

  it("a token is neither an argument nor in what is said", async () => {
    const script = `${version}; echo "$*" >>"${home}/said"`;
    const found = await finding("ngrok", script, 'authtoken = "2abcDEFghiJKL"', { SALLYPORT_TOKEN: "x" });
    expect(JSON.stringify(found)).not.toContain("2abcDEFghiJKL");
  });

  it("names a program of the configuration that is not there, and what to correct", async () => {
    await writeFile(join(home, "config.toml"), '[tunnel.ngrok]\nbinary = "/nowhere/ngrok"\n', {
      mode: 0o600,
    });
    const config = await loadConfig(join(home, "config.toml"));
    const findings = await checkTunnelTools(homePaths(home), { PATH: "" }, config);
    expect(findings).toContainEqual(
      expect.objectContaining({
        state: "warn",
        message: expect.stringContaining("/nowhere/ngrok"),
        next: expect.stringContaining("tunnel.ngrok.binary"),
      }),
    );
    expect(findings.find(({ message }) => message.startsWith("tailscale"))?.message).toContain(
      "not installed",
    );
  });

  it("looks at the program of [tunnel.command] only where there is one", async () => {
    const settings = 'command = ["/nowhere/tool", "{port}"]\nurl_pattern = "https://x"';
    const found = await finding("command", "exit 0", settings);
    expect(found).toContainEqual(
      expect.objectContaining({ state: "warn", next: expect.stringContaining("tunnel.command.command") }),
    );
  });
});

describe("parseTcpTable", () => {
  const head = "  sl  local_address rem_address   st tx_queue rx_queue";
  it.each([
    ["   0: 0100007F:1F90 00000000:0000 0A 0", [{ host: "127.0.0.1", port: 8_080 }]],
    ["   1: 00000000:0050 00000000:0000 0A 0", [{ host: "127.0.0.1", port: 80 }]],
    ["   2: 0100007F:1F90 0100007F:9999 01 0", []],
    ["   3: 00000000000000000000000000000000:01BB 0:0 0A 0", [{ host: "::1", port: 443 }]],
    ["   4: 00000000000000000000000001000000:01BB 0:0 0A 0", [{ host: "::1", port: 443 }]],
    ["   5: 0000000000000000FFFF00000100007F:01BB 0:0 0A 0", [{ host: "127.0.0.1", port: 443 }]],
    [
      "   6: B80D01200000000000000000020000FD:01BB 0:0 0A 0",
      [{ host: "2001:db8:0:0:0:0:fd00:2", port: 443 }],
    ],
    ["garbage", []],
  ])("%s", (line, expected) => {
    expect(parseTcpTable(`${head}\n${line}\n`)).toEqual(expected);
  });
});

import { execFile } from "node:child_process";
import { request } from "node:http";
import { networkInterfaces } from "node:os";
import { promisify } from "node:util";
import type { Config } from "../../config/config.ts";
import type { HomePaths } from "../../config/home-paths.ts";
import { toolPath } from "../../daemon/tunnel-program.ts";
import { lanAddresses, urlHost } from "../../lib/net-addresses.ts";
import type { Remote } from "../../protocol/objects.ts";
import { findDaemon } from "../find-daemon.ts";
import { type Finding, ok, warn } from "./finding.ts";

type Env = Readonly<Record<string, string | undefined>>;

const run = promisify(execFile);
const askMs = 5_000;

interface Tool {
  readonly name: string;
  readonly version: readonly string[];
  /** A call that fails, or whose output fits `out`, when nobody is logged in. Null: the tool has no login of its own. */
  readonly login: { readonly args: readonly string[]; readonly out: RegExp; readonly next: string } | null;
}

const tools: readonly Tool[] = [
  { name: "cloudflared", version: ["--version"], login: null },
  {
    name: "tailscale",
    version: ["version"],
    login: { args: ["status"], out: /logged out|stopped|needslogin/i, next: "sudo tailscale up" },
  },
  {
    name: "ngrok",
    version: ["version"],
    login: {
      args: ["config", "check"],
      out: /error|invalid/i,
      next: "ngrok config add-authtoken TOKEN, or tunnel.ngrok.authtoken in config.toml",
    },
  },
  { name: "ssh", version: ["-V"], login: null },
];

/** The programs that tunnels are made with: there, which version, logged in. None of them is needed until it is asked for. */
export async function checkTunnelTools(
  paths: HomePaths,
  env: Env,
  config: Config | null,
): Promise<readonly Finding[]> {
  return Promise.all(tools.map((tool) => checkTool(tool, paths, env, config)));
}

async function checkTool(tool: Tool, paths: HomePaths, env: Env, config: Config | null): Promise<Finding> {
  const settings = config?.tunnel.providers[tool.name];
  const binary = typeof settings?.binary === "string" ? settings.binary : null;
  const path = toolPath(binary ?? tool.name, { home: paths.home, environment: env });
  if (path === null)
    return binary === null
      ? ok("tunnel", `${tool.name} is not installed; needed only for a tunnel by it`)
      : warn(
          "tunnel",
          `${binary} is no program that can be run`,
          `Correct tunnel.${tool.name}.binary in ${paths.config}`,
        );
  const version = await ask(path, tool.version);
  if (version === null) return warn("tunnel", `${path} does not tell its version`, "Install it again.");
  const text = `${path}: ${(version.split("\n")[0] ?? "").slice(0, 80)}`;
  if (tool.login === null || typeof settings?.authtoken === "string") return ok("tunnel", text);
  const login = await ask(path, tool.login.args);
  return login === null || tool.login.out.test(login)
    ? warn("tunnel", `${text}, but nobody is logged in`, tool.login.next)
    : ok("tunnel", text);
}

async function ask(path: string, args: readonly string[]): Promise<string | null> {
  try {
    const { stdout, stderr } = await run(path, [...args], { timeout: askMs, maxBuffer: 64 * 1024 });
    return `${stdout}${stderr}`.trim();
  } catch {
    // A tool that fails or hangs at such a question is not usable: the finding says so.
    return null;
  }
}

/**
 * Does an address of ours that others can use lead to the main door, where a forwarder makes everybody look local? A
 * challenge tells: only the local class gets a proof, and only the main door has it.
 */
export async function checkMainDoor(paths: HomePaths, env: Env): Promise<readonly Finding[]> {
  const found = await findDaemon(paths, env);
  if (found.state !== "running") return [];
  const { link } = found;
  // A daemon that does not answer this is another check's finding; its addresses are then left out.
  const remote = await link.rest.body<Remote>("GET", "/api/remote").catch(() => null);
  const own = lanAddresses(networkInterfaces()).map(({ address }) => address);
  const suspects = [
    ...(remote?.addresses ?? []).map(({ address }) => address),
    ...own.flatMap((host) => [80, 8_080, link.file.port].map((port) => `http://${urlHost(host)}:${port}`)),
  ];
  const reached: string[] = [];
  await Promise.all(
    suspects
      .filter((address) => address.startsWith("http://"))
      .map(async (address) => ((await looksLocal(address)) ? reached.push(address) : null)),
  );
  return reached.length === 0
    ? [ok("doors", "no address of this machine leads to the main door as if from here")]
    : [
        {
          check: "doors",
          state: "fail",
          message: `Through ${reached.join(", ")} everybody reaches the main door and looks local`,
          next: "Point the proxy or forwarder at a [[door]] of its own (docs/remote-access.md)",
        },
      ];
}

/** Sends Host: localhost, as a forwarder's caller could. The challenge is no secret, and no token is sent. */
function looksLocal(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const outgoing = request(`${address}/api/hello?challenge=doctor-doctor-doctor`, {
      headers: { host: "localhost" },
      timeout: 2_000,
      agent: false,
    });
    outgoing.on("timeout", () => outgoing.destroy());
    outgoing.on("error", () => resolve(false));
    outgoing.on("response", async (response) => {
      let text = "";
      try {
        for await (const chunk of response) {
          text += chunk;
          if (text.length > 4_096) break;
        }
      } catch {
        // Cut off: what came is judged.
      }
      resolve(/"app":"sallyport"/.test(text) && /"proof":/.test(text));
    });
    outgoing.end();
  });
}

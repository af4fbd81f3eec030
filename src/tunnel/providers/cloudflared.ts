import { createFieldReader } from "../fields.ts";
import { complaint, type KnownProblem, knownProblem } from "../problem-lines.ts";
import type { Finding, LoginVerdict, Provider, RawFields } from "../provider.ts";
import { isBelow, readPublicUrl, urlsIn } from "../public-url.ts";

/** Quick tunnels get a name below this one; `api.` is what the tool itself talks to, and it is in its error texts. */
const quickDomain = "trycloudflare.com";
const serviceHosts = new Set([`api.${quickDomain}`, `www.${quickDomain}`]);

const hostname =
  /^(?=.{4,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;

const problems: readonly KnownProblem[] = [
  {
    pattern: /Provided Tunnel token is not valid|Invalid tunnel secret|Unauthorized: /i,
    text: "Cloudflare refuses the token. Copy it again from the tunnel's page in the Zero Trust dashboard.",
    final: true,
  },
  {
    pattern: /429 Too Many Requests|error code: 1015/i,
    text: "Cloudflare gives no more quick tunnels to this address for now (429). Wait, or use a named tunnel.",
    final: false,
  },
  {
    pattern: /failed to request quick Tunnel|Error unmarshaling QuickTunnel response/i,
    text: "Cloudflare gave no quick tunnel. Is this machine on the internet?",
    final: false,
  },
];

/**
 * Cloudflare's connector. Without fields a quick tunnel; with `token` (of a tunnel made in the dashboard) and `hostname` a
 * named one. The token goes by TUNNEL_TOKEN.
 */
export const cloudflared: Provider = {
  name: "cloudflared",
  addressSource: "cf-connecting-ip",
  howToGet:
    "Get it from https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/downloads/",
  versionArgs: ["--version"],
  checkLogin: async ({ settings }) => checkToken(settings),
  plan(input) {
    const fields = createFieldReader("cloudflared", input);
    const tokenSecret = fields.secret("token");
    const name = fields.text("hostname", hostname, "a host name in lower case, as in: sally.example.com");
    fields.end();
    if ((tokenSecret === null) !== (name === null))
      fields.refuse(
        tokenSecret === null ? "token" : "hostname",
        "is missing: a named tunnel takes token and hostname, a quick tunnel neither",
      );
    // A configuration of the user's own would switch quick tunnels off, or route this one elsewhere.
    const common = ["tunnel", "--no-autoupdate", "--config", "/dev/null"];
    return {
      publicUrl: name === null ? null : `https://${name}`,
      secrets: tokenSecret === null ? [] : [tokenSecret],
      tellsReady: true,
      hint: (port) =>
        name === null
          ? null
          : `In Cloudflare's dashboard the service of ${name} must be http://127.0.0.1:${port}`,
      command: (port) =>
        tokenSecret === null
          ? { program: "cloudflared", args: [...common, "--url", `http://127.0.0.1:${port}`], env: {} }
          : { program: "cloudflared", args: [...common, "run"], env: { TUNNEL_TOKEN: tokenSecret } },
      createReader: () => (line) => readLine(line, name === null, input.insecureHttp),
    };
  },
};

/** Nobody but Cloudflare can say whether a token counts; what can be seen from here is whether it is one. */
function checkToken({ token, hostname: name }: RawFields): LoginVerdict {
  if (token === undefined && name === undefined)
    return { ok: true, text: "quick tunnels need no login; a named one would need token and hostname" };
  if (typeof token !== "string" || typeof name !== "string")
    return {
      ok: false,
      text: `tunnel.cloudflared has no ${typeof token === "string" ? "hostname" : "token"}`,
      next: "Set both token and hostname in [tunnel.cloudflared] of config.toml, or neither (--hostname and --credential-file do, too)",
    };
  return isTunnelToken(token)
    ? { ok: true, text: `has a token for ${name}` }
    : {
        ok: false,
        text: "tunnel.cloudflared.token is no token of a tunnel",
        next: "Copy it again from the tunnel's page in the Zero Trust dashboard",
      };
}

/** Base64 of JSON with account, tunnel and secret. */
function isTunnelToken(token: string): boolean {
  try {
    const raw: unknown = JSON.parse(Buffer.from(token, "base64").toString("utf8"));
    return typeof raw === "object" && raw !== null && ["a", "t", "s"].every((key) => key in raw);
  } catch {
    // No JSON: the answer is no.
    return false;
  }
}

function readLine(line: string, isQuick: boolean, insecureHttp: boolean): Finding | null {
  const problem = knownProblem(line, problems);
  if (problem !== null) return problem;
  const isReady = /Registered tunnel connection|Connection [0-9a-f-]{36} registered/i.test(line);
  if (isQuick && !/\bERR\b|failed|error/i.test(line))
    for (const raw of urlsIn(line)) {
      const read = readPublicUrl(raw, insecureHttp);
      if (read.ok && isBelow(read.host, [quickDomain]) && !serviceHosts.has(read.host))
        return { kind: "url", url: read.url, ...(isReady ? { isReady } : {}) };
    }
  if (isReady) return { kind: "ready" };
  return /\b(ERR|FTL)\b/.test(line) || !/^\S+Z (INF|WRN|DBG) /.test(line) ? complaint(line) : null;
}

import { createAskingReader } from "../asking.ts";
import { createFieldReader } from "../fields.ts";
import { jsonFields, readableLine } from "../json-line.ts";
import { namedAddress } from "../named-address.ts";
import { complaint, type KnownProblem, knownProblem } from "../problem-lines.ts";
import type { Finding, LoginVerdict, Provider, RawFields } from "../provider.ts";
import { isBelow, readPublicUrl, urlsIn } from "../public-url.ts";

/** Quick tunnels get a name below this one; `api.` is what the tool itself talks to, and it is in its error texts. */
const quickDomain = "trycloudflare.com";
const serviceHosts = new Set([`api.${quickDomain}`, `www.${quickDomain}`]);
/** Where it sends people to log in. */
const loginHosts = ["dash.cloudflare.com", "cloudflareaccess.org", "cloudflareaccess.com"];

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
    pattern: /failed to (request|unmarshal) quick Tunnel|Error unmarshaling QuickTunnel response/i,
    text: "Cloudflare gave no quick tunnel. Is this machine on the internet? Their state: https://www.cloudflarestatus.com",
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
      createReader() {
        const readAsking = createAskingReader(loginHosts);
        return (line) => readLine(line, name === null, input.insecureHttp) ?? readAsking(readableLine(line));
      },
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

function readLine(rawLine: string, isQuick: boolean, insecureHttp: boolean): Finding | null {
  const line = asText(rawLine);
  const problem = knownProblem(line, problems);
  if (problem !== null) return problem;
  const isReady = /Registered tunnel connection|Connection ([0-9a-f-]{36} registered|established\b)/i.test(
    line,
  );
  const isComplaint = /\b(ERR|FTL)\b|failed|error/i.test(line);
  if (isQuick && !isComplaint)
    for (const raw of urlsIn(line)) {
      const read = readPublicUrl(raw, insecureHttp);
      if (read.ok && isBelow(read.host, [quickDomain]) && !serviceHosts.has(read.host))
        return { kind: "url", url: read.url, ...(isReady ? { isReady } : {}) };
      if (standsAlone(line) && !isServiceHost(raw))
        return namedAddress(raw, { tool: "cloudflared", insecureHttp, domains: [quickDomain] });
    }
  if (isReady) return { kind: "ready" };
  // Only tunnels that are managed from here need that certificate; it is missed aloud all the same.
  if (/origin certificate path/i.test(line)) return null;
  return /\b(ERR|FTL)\b/.test(line) || !/^\S+Z (INF|WRN|DBG) |^(INF|WRN|DBG) /.test(line)
    ? complaint(line)
    : null;
}

/** With `--output json` (or TUNNEL_LOG_OUTPUT) each line is an object: the same words in another dress. */
function asText(line: string): string {
  const level = jsonFields(line)?.get("level");
  if (level === undefined) return line;
  const mark = /^(error|fatal|panic)$/.test(level) ? "ERR" : "INF";
  return `${mark} ${readableLine(line)}`;
}

function isServiceHost(raw: string): boolean {
  return URL.canParse(raw) && serviceHosts.has(new URL(raw).hostname);
}

/** Nothing but an address, or one in a frame: this is how it tells the public one. */
function standsAlone(line: string): boolean {
  return (
    /^(\S+Z )?(INF )?\s*https?:\/\/\S+\s*$/i.test(line) ||
    /[|\u2500-\u257f]\s*https?:\/\/[^\s|\u2500-\u257f]+\s*[|\u2500-\u257f]/i.test(line)
  );
}

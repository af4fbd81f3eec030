import { createFieldReader } from "../fields.ts";
import { namedAddress } from "../named-address.ts";
import { complaint, type KnownProblem, knownProblem } from "../problem-lines.ts";
import type { Finding, Provider } from "../provider.ts";
import { isBelow, readPublicUrl, urlsIn } from "../public-url.ts";

const problems: readonly KnownProblem[] = [
  {
    pattern: /Access denied|serve config denied|must be root/i,
    text: "Tailscale lets only root change this. Once, on this machine: sudo tailscale set --operator=$USER",
    final: true,
  },
  {
    pattern: /failed to connect to local tailscaled|tailscaled.*(not running|doesn't appear to be running)/i,
    text: "Tailscale does not run on this machine. Start it: sudo systemctl start tailscaled",
    final: false,
  },
  {
    pattern: /^Logged out\.?$|NeedsLogin|not logged in/i,
    text: "This machine is not logged in to Tailscale. Run: sudo tailscale up",
    final: false,
  },
  {
    pattern: /tailscale is stopped|\bstate: Stopped\b/i,
    text: "Tailscale is switched off on this machine. Run: sudo tailscale up",
    final: false,
  },
  {
    pattern: /key (has )?expired|login (has )?expired/i,
    text: "This machine's login to Tailscale has expired. Run: sudo tailscale up --force-reauth",
    final: false,
  },
  {
    pattern: /flag provided but not defined|unknown (sub)?command/i,
    text: "This tailscale is too old: serve and funnel by these options came with version 1.52. Update it.",
    final: true,
  },
  {
    pattern: /(foreground listener|already exists|listener already)/i,
    text: "Tailscale serves something else on this port already. See: tailscale serve status",
    final: false,
  },
];

/** What `tailscale status` says first; a line of its table begins with an address. */
const loginProblems: readonly { readonly pattern: RegExp; readonly text: string; readonly next: string }[] = [
  {
    pattern: /^(# )?(.*: )?(logged out\b|.*\bNeedsLogin\b|.*not logged in\b)/i,
    text: "nobody is logged in",
    next: "sudo tailscale up",
  },
  { pattern: /^(# )?tailscale is stopped/i, text: "it is switched off", next: "sudo tailscale up" },
  {
    pattern:
      /failed to connect to local tailscaled|^is tailscaled? running|tailscaled.*(not running|doesn't appear)/i,
    text: "its service does not run",
    next: "sudo systemctl start tailscaled",
  },
];

/**
 * Tailscale's Serve (only this tailnet), or with `funnel` Funnel (the whole internet). In the foreground, so that it ends
 * with the program: what `--bg` sets would stay.
 */
export const tailscale: Provider = {
  name: "tailscale",
  addressSource: "last-x-forwarded-for",
  howToGet: "Get it from https://tailscale.com/download",
  versionArgs: ["version"],
  async checkLogin({ ask }) {
    const answer = await ask(["status"]);
    const lines = answer?.output.split("\n").map((line) => line.trim()) ?? [];
    const known = lines.map((line) => loginProblems.find(({ pattern }) => pattern.test(line))).find(Boolean);
    if (known) return { ok: false, text: known.text, next: known.next };
    return answer?.code === 0
      ? { ok: true, text: "logged in" }
      : { ok: false, text: "it does not tell its status", next: "See what it says: tailscale status" };
  },
  plan(input) {
    const fields = createFieldReader("tailscale", input);
    const isFunnel = fields.flag("funnel");
    const httpsPort = fields.integer("https_port", 1, 65_535) ?? 443;
    fields.end();
    if (isFunnel && ![443, 8_443, 10_000].includes(httpsPort))
      fields.refuse("https_port", "must be 443, 8443 or 10000 with funnel");
    return {
      publicUrl: null,
      secrets: [],
      tellsReady: false,
      hint: () => null,
      command: (port) => ({
        program: "tailscale",
        args: [isFunnel ? "funnel" : "serve", `--https=${httpsPort}`, `http://127.0.0.1:${port}`],
        env: {},
      }),
      createReader: () => createReader(input.insecureHttp),
    };
  },
};

function createReader(insecureHttp: boolean): (line: string) => Finding | null {
  /** What stands above a link: the tool says what it wants, a blank line, then where. */
  let asking: string | null = null;
  return (line) => {
    const problem = knownProblem(line.trim(), problems);
    if (problem !== null) return problem;
    if (/not enabled|not available|to enable|to log ?in|to authenticate|visit:?$/i.test(line))
      asking = asking !== null && asking.length < 300 ? `${asking} ${line.trim()}` : line.trim();
    for (const raw of urlsIn(line)) {
      const link = loginLink(raw);
      if (link !== null)
        return { kind: "waiting", text: asking ?? "Tailscale asks you to open its page.", link };
      const read = readPublicUrl(raw, insecureHttp);
      if (read.ok && isBelow(read.host, ["ts.net"])) return { kind: "url", url: read.url };
      // Its own address stands at the beginning of a line; others are in its prose.
      if (line.startsWith(raw))
        return namedAddress(raw, { tool: "tailscale", insecureHttp, domains: ["ts.net"] });
    }
    return asking !== null ? { kind: "waiting", text: asking, link: null } : complaint(line);
  };
}

function loginLink(raw: string): string | null {
  const url = URL.canParse(raw) ? new URL(raw) : null;
  const isTheirs =
    url?.protocol === "https:" && url.username === "" && isBelow(url.hostname, ["tailscale.com"]);
  return isTheirs ? url.href : null;
}

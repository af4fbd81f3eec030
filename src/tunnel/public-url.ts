const maxUrlLength = 1_024;
const namePattern =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const pathPattern = /^(?:\/[A-Za-z0-9._~-]+)*$/;
const ansi = /\u001b\[[0-9;?]*[ -/]*[@-~]/g;

export type UrlProblem = "malformed" | "not_https" | "credentials" | "query";

export type ReadUrl =
  | { readonly ok: true; readonly url: string; readonly host: string }
  | { readonly ok: false; readonly problem: UrlProblem };

/**
 * Reads a public base address: `https://name[:port][/path]` without credentials, query or fragment. Yields it in one
 * spelling: lower-case host, default port and trailing slash left out.
 *
 * @param insecureHttp http counts too
 */
export function readPublicUrl(raw: string, insecureHttp: boolean): ReadUrl {
  if (raw.length > maxUrlLength || !/^https?:\/\/[^\s\\]+$/i.test(raw))
    return { ok: false, problem: "malformed" };
  const url = URL.canParse(raw) ? new URL(raw) : null;
  if (url === null) return { ok: false, problem: "malformed" };
  if (url.username !== "" || url.password !== "" || raw.includes("@"))
    return { ok: false, problem: "credentials" };
  if (raw.includes("?") || raw.includes("#")) return { ok: false, problem: "query" };
  if (url.protocol !== "https:" && !insecureHttp) return { ok: false, problem: "not_https" };
  const host = url.hostname.replace(/\.$/, "");
  // As written: the parser would have resolved dot segments and escapes already.
  const path = raw.replace(/^[^/]*\/\/[^/]*/, "").replace(/\/+$/, "");
  const isAddress = host.startsWith("[");
  // A parser that mends what it is given would make two spellings of one address.
  if ((!isAddress && !namePattern.test(host)) || !pathPattern.test(path) || url.port === "0")
    return { ok: false, problem: "malformed" };
  if (path.split("/").some((part) => part === "." || part === ".."))
    return { ok: false, problem: "malformed" };
  const port = url.port === "" ? "" : `:${url.port}`;
  return { ok: true, url: `${url.protocol}//${host}${port}${path}`, host };
}

/** What looks like a web address in a line of output, in order; frames and punctuation around it are left out. */
export function urlsIn(line: string): readonly string[] {
  return (stripAnsi(line).match(/https?:\/\/[A-Za-z0-9._~:/?#@!$&'()*+,;=%[\]-]+/gi) ?? [])
    .map((found) => found.replace(/[.,;:!?)'\]]+$/, ""))
    .slice(0, 8);
}

/** The line without colours and cursor movements. */
export function stripAnsi(line: string): string {
  return line.replace(ansi, "");
}

/** True when `host` is a name below one of the domains; the domain itself is not. */
export function isBelow(host: string, domains: readonly string[]): boolean {
  return domains.some((domain) => host.endsWith(`.${domain}`) && host.length > domain.length + 1);
}

import type { Refusal } from "../errors.ts";
import { parseIp } from "../lib/ip-address.ts";

/** The address of one browser at its push service: whoever knows it and the keys can wake that browser. A secret. */
export interface Endpoint {
  readonly url: URL;
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
}

export interface EndpointRules {
  /** Takes addresses of private networks and other ports than 443: for a push service of one's own, and for tests. */
  readonly insecurePrivateEndpoints: boolean;
}

export type EndpointResult =
  | { readonly ok: true; readonly endpoint: Endpoint }
  | { readonly ok: false; readonly refusal: Refusal };

const maxChars = 2_048;
const httpsPort = 443;

/**
 * Judges what a browser calls its push endpoint (RFC 8030 §8.1: https). The daemon will send requests there, so it must not
 * lead to this machine or its network: a name with a dot, no IP literal, port 443. What the name resolves to is judged
 * whenever something is sent.
 */
export function parseEndpoint(rawEndpoint: string, rules: EndpointRules): EndpointResult {
  if (rawEndpoint.length > maxChars) return refused(`is longer than ${maxChars} characters`);
  if (!/^https:\/\//i.test(rawEndpoint)) return refused("must begin with https://");
  if (!URL.canParse(rawEndpoint)) return refused("is no address");
  const url = new URL(rawEndpoint);
  // Characters that are written with % take up to twelve times their room.
  if (url.href.length > maxChars)
    return refused(`is longer than ${maxChars} characters when it is spelt out`);
  if (url.username !== "" || url.password !== "") return refused("must not hold a name or password");
  if (url.hash !== "") return refused("must not hold a fragment");
  // Only now are odd spellings of an address (0x7f.1, 2130706433, [::ffff:7f00:1]) in one form.
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? httpsPort : Number(url.port);
  if (!rules.insecurePrivateEndpoints) {
    if (parseIp(host) !== null) return refused("must name its host, not an IP address");
    if (port !== httpsPort) return refused("must be on port 443");
    if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(host)) return refused("must name a host of the internet");
    if (/(^|\.)(localhost|local|internal|home\.arpa|onion)$/.test(host))
      return refused("names a host of this network");
  }
  return { ok: true, endpoint: { url, host, port } };
}

function refused(why: string): EndpointResult {
  return {
    ok: false,
    refusal: { code: "invalid_field", message: `The endpoint ${why}.`, field: "endpoint" },
  };
}

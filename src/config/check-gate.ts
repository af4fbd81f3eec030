import ipaddr from "ipaddr.js";
import type { ConfigProblem } from "./config-error.ts";
import type { RawConfig } from "./schema.ts";

const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@*\s]+$/;

/** `origins` are compared letter by letter with what a browser sends, so one that no browser would send is a mistake. */
export function checkOrigins(raw: RawConfig): ConfigProblem | null {
  for (const [index, written] of (raw.origins ?? []).entries()) {
    const key = `origins.${index}`;
    if (!origin.test(written) || written !== written.toLowerCase())
      return {
        key,
        message:
          'must be an origin as a browser sends it: lower case, "scheme://host" or "scheme://host:port".',
      };
    if (!/^https?:/.test(written)) continue;
    if (!URL.canParse(written) || new URL(written).origin !== written)
      return {
        key,
        message: "is not as a browser sends it: leave out a default port, and write IPv6 short.",
      };
  }
  return null;
}

/** `trusted_proxies` are addresses or CIDR ranges. A range that covers everybody would make any header believed. */
export function checkTrustedProxies(raw: RawConfig): ConfigProblem | null {
  for (const [index, written] of (raw.trusted_proxies ?? []).entries()) {
    const key = `trusted_proxies.${index}`;
    const prefix = prefixOf(written);
    if (prefix === null)
      return { key, message: "must be an IP address or a range such as 10.0.0.0/8 or fd00::/8." };
    if (prefix === 0) return { key, message: "covers every address. Name the proxies that you run." };
  }
  return null;
}

function prefixOf(written: string): number | null {
  if (ipaddr.isValidCIDR(written)) return ipaddr.parseCIDR(written)[1];
  if (ipaddr.IPv6.isValid(written)) return 128;
  return ipaddr.IPv4.isValidFourPartDecimal(written) ? 32 : null;
}

/** A certificate without its key, or the other way round, would silently mean plain HTTP. */
export function checkTls(raw: RawConfig): ConfigProblem | null {
  if (raw.tls === undefined) return null;
  if (raw.tls.cert === undefined)
    return { key: "tls.cert", message: "is missing: [tls] needs cert and key." };
  if (raw.tls.key === undefined) return { key: "tls.key", message: "is missing: [tls] needs cert and key." };
  return null;
}

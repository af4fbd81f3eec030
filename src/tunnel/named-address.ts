import { explained } from "./problem-lines.ts";
import type { Finding } from "./provider.ts";
import { isBelow, readPublicUrl } from "./public-url.ts";

export interface AddressRules {
  readonly tool: string;
  readonly insecureHttp: boolean;
  /** The address must be below one of them; null: any name counts. */
  readonly domains: readonly string[] | null;
}

/** What it means that a tool names an address as the public one: the address, or why it is not taken. Null when it is none. */
export function namedAddress(raw: string, { tool, insecureHttp, domains }: AddressRules): Finding | null {
  const read = readPublicUrl(raw, insecureHttp);
  if (!read.ok)
    return read.problem === "not_https"
      ? explained(
          `${tool} names an address without https (${raw.slice(0, 100)}). To take it all the same: insecure_http = true in [tunnel] of config.toml.`,
        )
      : null;
  if (domains !== null && !isBelow(read.host, domains))
    return explained(
      `${tool} names the address ${read.url.slice(0, 100)}, which is not below ${domains[0]}: it is not taken.`,
    );
  return { kind: "url", url: read.url };
}

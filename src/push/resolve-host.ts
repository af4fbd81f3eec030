import { lookup, Resolver } from "node:dns/promises";
import { parsePeerAddress } from "../lib/ip-address.ts";
import { isPublicIp } from "./public-ip.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}
/** Resolves a name to all of its addresses. */
export type ResolveName = (host: string) => Promise<readonly ResolvedAddress[]>;

/**
 * Asks the name servers of the system over sockets of its own. The system's resolver (`lookup`) holds one of four threads
 * that files are read and written on: a few names whose servers never answer would hold up the whole daemon.
 */
export const askNameServers: ResolveName = (host) => ask(newResolver(2_000), host);

/** The same with name servers of one's own, `address:port`. */
export function askThese(servers: readonly string[], timeoutMs: number): ResolveName {
  const resolver = newResolver(timeoutMs);
  resolver.setServers(servers);
  return (host) => ask(resolver, host);
}

function newResolver(timeoutMs: number): Resolver {
  return new Resolver({ timeout: timeoutMs, tries: 2 });
}

async function ask(resolver: Resolver, host: string): Promise<readonly ResolvedAddress[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = [
    ...(v4.status === "fulfilled" ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === "fulfilled" ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (found.length === 0 && v4.status === "rejected") throw v4.reason;
  return found;
}

/** As every other program of this machine, with its list of hosts: only where private addresses are allowed. */
export const systemResolve: ResolveName = (host) => lookup(host, { all: true, verbatim: true });

/** Why a push service cannot be reached; the text is for the owner of the subscription. */
export class EndpointProblem extends Error {
  override readonly name = "EndpointProblem";
}

/**
 * The addresses to connect to. Every one must be public, not just the first: a name that leads into this network as well is
 * not that of a push service. Whoever connects must use these and ask no resolver again: the next answer may be another.
 *
 * @throws EndpointProblem
 */
export async function resolvePublic(
  host: string,
  resolve: ResolveName,
  insecurePrivateEndpoints: boolean,
): Promise<readonly ResolvedAddress[]> {
  const found = await resolve(host).catch((error: NodeJS.ErrnoException) => {
    throw new EndpointProblem(`${host} cannot be resolved (${error.code ?? "unknown"})`, { cause: error });
  });
  if (found.length === 0) throw new EndpointProblem(`${host} has no address`);
  if (insecurePrivateEndpoints) return found;
  for (const { address } of found) {
    const parsed = parsePeerAddress(address);
    if (parsed === null || !isPublicIp(parsed))
      throw new EndpointProblem(`${host} leads to an address that is not public`);
  }
  return found;
}

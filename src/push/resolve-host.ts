import { lookup } from "node:dns/promises";
import { parsePeerAddress } from "../lib/ip-address.ts";
import { isPublicIp } from "./public-ip.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}
/** Resolves a name to all of its addresses, as the system does. */
export type ResolveName = (host: string) => Promise<readonly ResolvedAddress[]>;

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

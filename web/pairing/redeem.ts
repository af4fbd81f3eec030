import { type Paired, redeemClaim } from "../../src/client/pair.ts";
import { randomHex } from "../../src/client/random.ts";
import { createRest, type Rest } from "../../src/client/rest.ts";
import { sendWithFetch } from "../../src/client/web-transport.ts";
import type { DeviceKind } from "../../src/protocol/objects.ts";

/** What is traded for a device token: a code that a person was given, or the ticket of `sallyport web`. */
export type PairingProof = { readonly code: string } | { readonly ticket: string };

export interface DeviceDescription {
  readonly name: string;
  readonly kind: DeviceKind;
}

const timeoutMs = 10_000;

/** One nonce for each code as long as the page lives: whoever repeats a claim with it gets the answer that was lost. */
const nonces = new Map<string, string>();

/**
 * Trades the proof for a device token. Throws `AnswerError` for a refusal and `UnreachableError` when nobody answers.
 *
 * @param base address of the daemon with a trailing slash
 */
export async function redeem(
  base: string,
  proof: PairingProof,
  device: DeviceDescription,
  wait?: (ms: number) => Promise<void>,
): Promise<Paired> {
  const rest = restWithout(base, null);
  const key = "code" in proof ? proof.code : proof.ticket;
  const nonce = nonces.get(key) ?? randomHex(16);
  nonces.set(key, nonce);
  return redeemClaim(rest, { ...proof, ...device, nonce }, wait);
}

/** Trades the master token of a local address for a page ticket; the token itself is never kept. */
export async function ticketForToken(base: string, token: string): Promise<string> {
  const body = await restWithout(base, token).body<{ ticket: string }>("POST", "/api/ws/ticket", {
    purpose: "page",
  });
  return body.ticket;
}

/** REST calls before there is a session. */
function restWithout(base: string, token: string | null): Rest {
  return createRest({ base: base.replace(/\/$/, ""), token, send: sendWithFetch, timeoutMs });
}

import type { DeviceKind, PairedDevice } from "../protocol/objects.ts";
import { AnswerError, isRecord, UnreachableError } from "./answer-error.ts";
import { randomHex } from "./random.ts";
import { createRest, type Rest, type SendHttp } from "./rest.ts";

/** What `GET /api/hello` tells anybody who may reach the daemon. */
export interface Hello {
  readonly app: "sallyport";
  readonly version: string;
  readonly remote: boolean;
  readonly pairing: boolean;
  readonly protocols: readonly string[];
}

export interface Paired {
  /** To be kept where only this client can read it. */
  readonly token: string;
  readonly device: PairedDevice;
  /** The daemon's. */
  readonly version: string;
}

export interface PairRequest {
  readonly base: string;
  readonly code: string;
  /** What the device is called in the daemon's list. */
  readonly name: string;
  readonly kind?: DeviceKind;
  /** Marks repeats of one claim; the client makes one if there is none. */
  readonly nonce?: string;
  readonly send: SendHttp;
  /** Resolves after so many milliseconds. */
  readonly wait?: (ms: number) => Promise<void>;
}

/** The daemon gives the winner of a code the same answer for a minute: whoever asks again in that time has lost nothing. */
const repeatAfterMs = [500, 1_500, 3_000, 6_000, 12_000];

/** Asks who is there. Throws `UnreachableError` when it is no daemon of ours, `AnswerError` `remote_off` when it lets nobody in. */
export async function hello(base: string, send: SendHttp): Promise<Hello> {
  const body = await createRest({ base, token: null, send, timeoutMs: 10_000 }).body("GET", "/api/hello");
  if (!isRecord(body) || body.app !== "sallyport")
    throw new UnreachableError(`What answers at ${base} is no Sallyport daemon.`);
  return body as unknown as Hello;
}

/** What a device says of itself, and what it has to show: a code that a person was given, or the ticket of `sallyport web`. */
export type PairingClaim = ({ readonly code: string } | { readonly ticket: string }) & {
  readonly name: string;
  readonly kind?: DeviceKind;
  /** Marks repeats of one claim. */
  readonly nonce: string;
};

/**
 * Trades a pairing code for a device token. Throws `AnswerError`: `pairing_refused`, `pairing_locked` (with `retry_after`),
 * `remote_off`; `UnreachableError` when nobody answers.
 */
export async function pair(request: PairRequest): Promise<Paired> {
  const { base, code, name, kind, nonce = randomHex(16), send, wait } = request;
  const rest = createRest({ base, token: null, send, timeoutMs: 10_000 });
  return redeemClaim(rest, { code, name, nonce, ...(kind === undefined ? {} : { kind }) }, wait);
}

/**
 * Sends a claim until it is answered. A reply that was lost is asked for again with the same nonce, so that a bad line does
 * not burn the code. Throws as `pair` does.
 *
 * @param wait resolves after so many milliseconds
 */
export async function redeemClaim(
  rest: Rest,
  claim: PairingClaim,
  wait: (ms: number) => Promise<void> = waitMs,
): Promise<Paired> {
  for (const delayMs of repeatAfterMs) {
    try {
      return await rest.body<Paired>("POST", "/api/pair", claim);
    } catch (error) {
      const mayBeLost =
        error instanceof UnreachableError || (error instanceof AnswerError && error.status === 503);
      if (!mayBeLost) throw error;
    }
    await wait(delayMs);
  }
  return rest.body<Paired>("POST", "/api/pair", claim);
}

function waitMs(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

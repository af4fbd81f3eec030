import { createHmac } from "node:crypto";
import { randomSecret } from "../lib/ids.ts";
import { limits } from "../protocol/limits.ts";

const masterTokenPattern = /^spm_[A-Za-z0-9_-]{43}$/;
const minFixedChars = 32;

/** A new master token: 256 bits. */
export function newMasterToken(): string {
  return `spm_${randomSecret(32)}`;
}

/** Reads the content of `daemon.token`; one newline at the end is allowed. Null: damaged. */
export function parseMasterTokenFile(rawText: string): string | null {
  const rawToken = rawText.replace(/\r?\n$/, "");
  return masterTokenPattern.test(rawToken) ? rawToken : null;
}

/**
 * Checks a master token that the user fixes. Empty is a mistake of a script, never "no token".
 *
 * @param rawToken the value, as it was found
 * @param source what to call it in the error: `SALLYPORT_TOKEN`, or the path of the token file
 * @throws RangeError with a text for the user, without the value
 */
export function parseFixedMasterToken(rawToken: string, source: string): string {
  const token = rawToken.replace(/\r?\n$/, "");
  if (token.trim() === "")
    throw new RangeError(
      `${source} is set but empty. Give it a token of at least ${minFixedChars} characters, or unset it: there is no way to run without a token.`,
    );
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new RangeError(`${source} may hold printable ASCII characters only, without spaces.`);
  if (token.length < minFixedChars)
    throw new RangeError(
      `${source} has ${token.length} characters; a token needs at least ${minFixedChars}. Make one: openssl rand -hex 32`,
    );
  if (token.length > limits.tokenBytes)
    throw new RangeError(`${source} is longer than ${limits.tokenBytes} characters.`);
  return token;
}

/**
 * The proof that whoever answers on `port` knows the master token (docs/protocol.md, "Pairing"): a client of ours checks
 * it before it sends the token to what may be a stranger on the port.
 */
export function helloProof(masterToken: string, port: number, challenge: string): string {
  return createHmac("sha256", masterToken)
    .update(`sallyport-hello\n${port}\n${challenge}`)
    .digest("base64url");
}

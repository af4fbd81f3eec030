import { type KeyObject, timingSafeEqual } from "node:crypto";
import { isId, randomSecret } from "../lib/ids.ts";
import { limits } from "../protocol/limits.ts";
import { createHmacSha256, type HmacSha256 } from "./hmac-sha256.ts";

/** A signing key with its id. `secretKey` holds 32 bytes. */
export interface TokenKey {
  readonly kid: string;
  readonly secretKey: KeyObject;
}

export interface TokenKeys {
  readonly current: TokenKey;
  /** Tokens under the key before the current one still count. */
  readonly previous: TokenKey | null;
}

/** A token taken apart, nothing of it believed yet. */
export interface RawDeviceToken {
  readonly rawJws: string;
  readonly rawHeader: string;
  readonly rawSigningInput: string;
  readonly rawSignature: string;
  readonly rawDevice: string;
}

export interface DeviceTokenClaims {
  readonly device: string;
  readonly tokenSecret: string;
}

const tokenType = "sallyport-device+jws";
const algorithm = "HS256";
const shape = /^spd_([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/;
const secretPattern = /^[A-Za-z0-9_-]{43}$/;
const headers = new WeakMap<TokenKey, string>();
const hmacs = new WeakMap<TokenKey, HmacSha256>();
/** How the payload of each token begins that we sign. */
const subStart = '{"sub":"';
const idChars = 36;
/** As much base64url as holds the beginning and the id: 44 bytes are in 60 characters. */
const subChars = 60;

/**
 * The device that a token names, read from where we write it and at a fraction of the price of taking the token apart: a
 * flood of tokens of unknown devices is refused by this alone. Null says nothing: look by `splitDeviceToken`.
 */
export function peekDevice(rawToken: string): string | null {
  if (!rawToken.startsWith("spd_")) return null;
  const payloadAt = rawToken.indexOf(".") + 1;
  if (payloadAt === 0) return null;
  const start = Buffer.from(rawToken.slice(payloadAt, payloadAt + subChars), "base64url").toString("latin1");
  return start.startsWith(subStart) ? start.slice(subStart.length, subStart.length + idChars) : null;
}

/**
 * Takes a token apart as cheaply as possible: over 1 KB unread, then the form, then `sub`. Null for whatever is no
 * device token. Not checked: the header, the signature, every other claim.
 */
export function splitDeviceToken(rawToken: string): RawDeviceToken | null {
  if (rawToken.length > limits.tokenBytes) return null;
  const parts = shape.exec(rawToken);
  if (!parts) return null;
  const [, rawHeader = "", rawPayload = "", rawSignature = ""] = parts;
  const payload = parseObject(Buffer.from(rawPayload, "base64url").toString("utf8"));
  const rawDevice = payload?.sub;
  if (typeof rawDevice !== "string" || !isId(rawDevice)) return null;
  return {
    rawJws: rawToken.slice(4),
    rawHeader,
    rawSigningInput: `${rawHeader}.${rawPayload}`,
    rawSignature,
    rawDevice,
  };
}

/**
 * The key that signed this token, or null. Synchronous and one HMAC, so that a forged token costs us little. The header
 * must be, byte for byte, the one that we write for that key: no other algorithm, type, key id or `crit` gets further, and
 * neither does another spelling of the same bytes.
 */
export function signingKeyOf(token: RawDeviceToken, keys: TokenKeys): TokenKey | null {
  const key = [keys.current, keys.previous].find((known) => known && headerOf(known) === token.rawHeader);
  if (!key) return null;
  const expected = hmacOf(key)(token.rawSigningInput);
  return timingSafeEqual(Buffer.from(expected, "latin1"), Buffer.from(token.rawSignature, "latin1"))
    ? key
    : null;
}

/**
 * The full check by jose (RFC 7515) with the algorithm pinned, and of every claim. Done once per token and process.
 * Null if anything is not as we write it.
 */
export async function verifyDeviceToken(
  token: RawDeviceToken,
  key: TokenKey,
): Promise<DeviceTokenClaims | null> {
  const { compactVerify, errors } = await import("jose");
  try {
    const { payload, protectedHeader } = await compactVerify(token.rawJws, key.secretKey, {
      algorithms: [algorithm],
    });
    if (protectedHeader.kid !== key.kid || protectedHeader.typ !== tokenType) return null;
    return readClaims(Buffer.from(payload).toString("utf8"));
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

/** Signs a new token for a device under the current key. `issuedAtMs` becomes `iat` in whole seconds. */
export async function mintDeviceToken(
  device: string,
  key: TokenKey,
  issuedAtMs: number,
): Promise<{ readonly token: string; readonly tokenSecret: string }> {
  const { CompactSign } = await import("jose");
  const tokenSecret = randomSecret(32);
  const claims = { sub: device, jti: tokenSecret, iat: Math.floor(issuedAtMs / 1000) };
  const jws = await new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: algorithm, kid: key.kid, typ: tokenType })
    .sign(key.secretKey);
  return { token: `spd_${jws}`, tokenSecret };
}

function hmacOf(key: TokenKey): HmacSha256 {
  let hmac = hmacs.get(key);
  if (hmac === undefined) {
    hmac = createHmacSha256(key.secretKey.export());
    hmacs.set(key, hmac);
  }
  return hmac;
}

function headerOf(key: TokenKey): string {
  let header = headers.get(key);
  if (header === undefined) {
    header = Buffer.from(JSON.stringify({ alg: algorithm, kid: key.kid, typ: tokenType })).toString(
      "base64url",
    );
    headers.set(key, header);
  }
  return header;
}

/**
 * `cnf.jkt` (RFC 9449) has its place in the format; no request can carry a proof of possession yet, so that a token which
 * demands one is refused.
 */
function readClaims(text: string): DeviceTokenClaims | null {
  const claims = parseObject(text);
  if (!claims || Object.keys(claims).some((name) => !["sub", "jti", "iat"].includes(name))) return null;
  const { sub, jti, iat } = claims;
  if (typeof sub !== "string" || typeof jti !== "string" || !secretPattern.test(jti)) return null;
  if (typeof iat !== "number" || !Number.isSafeInteger(iat)) return null;
  return { device: sub, tokenSecret: jti };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    // Not JSON: the caller refuses it like every other malformed token.
    return null;
  }
}

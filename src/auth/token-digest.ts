import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * Makes the digest under which secrets are compared and looked up: HMAC-SHA256 under a key that lives as long as the
 * process. Who can time the comparison, or reads the tables in memory, learns nothing that can be presented.
 */
export interface TokenDigester {
  /** 32 bytes as a latin1 string: short, and a cheap key of a Map. */
  digest(rawSecret: string): string;
}

export function createTokenDigester(): TokenDigester {
  const key = createSecretKey(randomBytes(32));
  return { digest: (rawSecret) => createHmac("sha256", key).update(rawSecret).digest("binary") };
}

/** Compares two digests of the same digester in constant time. */
export function digestsEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a, "latin1"), Buffer.from(b, "latin1")];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}

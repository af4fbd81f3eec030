import { hash } from "node:crypto";

/** HMAC-SHA256 of a Latin-1 text under a fixed key, as base64url. */
export type HmacSha256 = (text: string) => string;

const blockBytes = 64;
const digestBytes = 32;

/**
 * HMAC (RFC 2104 §2) by the one-shot hash of Node: a quarter of the price of `createHmac`, whose objects cost more than the
 * hashing. For what strangers can make us compute.
 *
 * @param keySecret at most 64 bytes
 */
export function createHmacSha256(keySecret: Buffer): HmacSha256 {
  if (keySecret.length > blockBytes) throw new TypeError("an HMAC key has at most one block here");
  const inner = Buffer.alloc(blockBytes, 0x36);
  const outer = Buffer.alloc(blockBytes + digestBytes, 0x5c);
  for (const [at, byte] of keySecret.entries()) {
    inner[at] = byte ^ 0x36;
    outer[at] = byte ^ 0x5c;
  }
  return (text) => {
    const message = Buffer.allocUnsafe(blockBytes + text.length);
    inner.copy(message);
    message.write(text, blockBytes, "latin1");
    outer.write(hash("sha256", message, "hex"), blockBytes, "hex");
    return hash("sha256", outer, "base64url");
  };
}

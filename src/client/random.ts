/** A fraction from 0 up to, but not including, 1. Injected where time is spread, so that tests can choose. */
export type Random = () => number;

/** From the platform's generator (Web Crypto): clients that all lost the same daemon must not come back in step. */
export function randomFraction(): number {
  return (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32;
}

/** `bytes` random bytes in hex. `crypto.randomUUID` is missing on plain http pages. */
export function randomHex(bytes: number): string {
  return [...crypto.getRandomValues(new Uint8Array(bytes))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

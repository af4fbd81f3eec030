import type { Random } from "./random.ts";

const firstMs = 500;
const maxMs = 30_000;

/**
 * How long to wait before the next try: doubles from 0.5 s to 30 s, and half of it is random.
 *
 * @param failures tries that failed since the connection was last good; 0 for the first wait
 */
export function backOffMs(failures: number, random: Random): number {
  const wholeMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures, 16));
  return Math.round(wholeMs / 2 + random() * (wholeMs / 2));
}

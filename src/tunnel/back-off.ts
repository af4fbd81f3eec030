import { randomInt } from "node:crypto";

const firstMs = 1_000;
const ceilingMs = 60_000;

/**
 * How long to wait before the next try: doubled with each failure in a row up to a minute, and a quarter more or less, so
 * that many machines behind one outage do not come back at one moment.
 *
 * @param failures 1 after the first one
 * @param pick a number from 0 to below `n`
 */
export function backOffMs(failures: number, pick: (n: number) => number = randomInt): number {
  const base = Math.min(ceilingMs, firstMs * 2 ** Math.min(Math.max(failures, 1) - 1, 10));
  return Math.round(base * 0.75) + pick(Math.round(base * 0.5) + 1);
}

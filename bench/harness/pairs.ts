import { median } from "./row.ts";

export interface Pairs {
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
  /** ours / theirs, pair by pair. */
  readonly ratios: readonly number[];
}

/**
 * Runs A B A B …: what else happens on the machine hits both of a pair alike. One run of each goes before, uncounted, so
 * that nothing is compiled for the first time while the clock runs.
 */
export async function measurePairs(
  count: number,
  ours: () => Promise<number>,
  theirs: () => Promise<number>,
): Promise<Pairs> {
  await ours();
  await theirs();
  const samples: { ours: number; theirs: number }[] = [];
  for (let pair = 0; pair < count; pair++) samples.push({ ours: await ours(), theirs: await theirs() });
  return {
    ours: samples.map((sample) => sample.ours),
    theirs: samples.map((sample) => sample.theirs),
    ratios: samples.map((sample) => sample.ours / sample.theirs),
  };
}

/** "12,340 against 13,900 req/s": the medians of both. */
export function describePairs(pairs: Pairs, unit: string, digits = 0): string {
  return `${number(median(pairs.ours), digits)} against ${number(median(pairs.theirs), digits)} ${unit}`;
}

export function number(value: number, digits = 0): string {
  return value.toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

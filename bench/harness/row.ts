/** What a figure must keep to; null where it is only shown. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number } | null;

export interface Figure {
  readonly figure: string;
  /** What it is compared with, measured in the same run. */
  readonly against: string;
  readonly bound: Bound;
  /** Of the samples; "" for a ratio. */
  readonly unit: string;
}

export interface Measured {
  /** One value a pair or run. */
  readonly samples: readonly number[];
  /** What lies behind the ratio, in absolute numbers. */
  readonly detail: string;
  /** Further figures that the same measurement gave. */
  readonly more?: readonly (Figure & { readonly samples: readonly number[]; readonly detail: string })[];
}

export interface Row extends Figure {
  measure(): Promise<Measured>;
}

export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function summarize(samples: readonly number[]): Summary {
  if (samples.length === 0) throw new TypeError("a row without samples");
  return { median: median(samples), min: Math.min(...samples), max: Math.max(...samples) };
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** Linear between neighbours; `q` from 0 to 1. */
export function quantile(samples: ArrayLike<number>, q: number): number {
  const sorted = Float64Array.from(samples).sort();
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

export function keeps(bound: Bound, value: number): boolean {
  if (bound === null) return true;
  return "atLeast" in bound ? value >= bound.atLeast : value <= bound.atMost;
}

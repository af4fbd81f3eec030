import type { Usage, UsageTotals } from "../../src/protocol/rest-objects.ts";

/** All tokens of a row: what was read, written and taken from a cache. */
export function tokensOf(totals: UsageTotals): number {
  return totals.input_tokens + totals.output_tokens + totals.cache_read_tokens + totals.cache_write_tokens;
}

export interface Bar {
  readonly day: string;
  readonly tokens: number;
  readonly cost: number | null;
  /** Share of the tallest, 0 to 1. */
  readonly share: number;
}

/**
 * One bar for every day of the window, also for those without use.
 *
 * @param usage `from` and `to` as `YYYY-MM-DD`, both in it
 */
export function barsOf(usage: Pick<Usage, "from" | "to" | "per_day">): readonly Bar[] {
  const known = new Map(usage.per_day.map((row) => [row.day, row]));
  const tallest = Math.max(1, ...usage.per_day.map(tokensOf));
  const bars: Bar[] = [];
  const lastMs = Date.parse(`${usage.to}T00:00:00Z`);
  for (let atMs = Date.parse(`${usage.from}T00:00:00Z`); atMs <= lastMs && bars.length < 366; atMs += dayMs) {
    const day = new Date(atMs).toISOString().slice(0, 10);
    const row = known.get(day);
    const tokens = row === undefined ? 0 : tokensOf(row);
    bars.push({ day, tokens, cost: row?.cost ?? null, share: tokens / tallest });
  }
  return bars;
}

const dayMs = 24 * 60 * 60_000;
const units = ["", "k", "M", "G"] as const;

/** `950`, `12.3k`, `4.5M`: short enough for a phone. */
export function shortCount(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit > 0 && value < 99.95 ? 1 : 0;
  return `${value.toFixed(digits).replace(/\.0$/, "")}${units[unit]}`;
}

/** Dollars: `$0.04`, `$12.30`; what is less than a cent says so; null is unknown. */
export function costText(cost: number | null): string {
  if (cost === null) return "–";
  if (cost > 0 && cost < 0.01) return "< $0.01";
  return `$${cost.toFixed(2)}`;
}

/** `4 Nov`, of a day `YYYY-MM-DD` in UTC. */
export function dayText(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString([], {
    day: "numeric",
    month: "short",
    timeZone: "UTC",
  });
}

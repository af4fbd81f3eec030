import type { Usage, UsageTotals } from "../../protocol/rest-objects.ts";
import type { UsageBucket } from "./scan-usage.ts";

const dayMs = 24 * 60 * 60_000;
const weekDays = 7;

type Sums = { -readonly [K in keyof UsageTotals]: UsageTotals[K] };

/**
 * Sums up usage: today, the last seven days and the last `days` days, all with today, in UTC; the window also by model
 * (most tokens first) and by day (oldest first, days without usage too).
 */
export function sumUsage(buckets: Iterable<UsageBucket>, nowMs: number, days: number): Usage {
  const dayAt = (daysAgo: number): string => new Date(nowMs - daysAgo * dayMs).toISOString().slice(0, 10);
  const today = dayAt(0);
  const weekFrom = dayAt(weekDays - 1);
  const windowFrom = dayAt(days - 1);
  const sums = { today: zero(), week: zero(), window: zero() };
  const byModel = new Map<string | null, Sums>();
  const byDay = new Map<string, Sums>();
  for (let ago = days - 1; ago >= 0; ago -= 1) byDay.set(dayAt(ago), zero());
  for (const bucket of buckets) {
    if (bucket.day > today) continue;
    if (bucket.day === today) add(sums.today, bucket);
    if (bucket.day >= weekFrom) add(sums.week, bucket);
    if (bucket.day < windowFrom) continue;
    add(sums.window, bucket);
    const ofModel = byModel.get(bucket.model) ?? zero();
    byModel.set(bucket.model, ofModel);
    add(ofModel, bucket);
    const ofDay = byDay.get(bucket.day);
    if (ofDay) add(ofDay, bucket);
  }
  return {
    days,
    from: windowFrom,
    to: today,
    time_zone: "UTC",
    today: rounded(sums.today),
    week: rounded(sums.week),
    window: rounded(sums.window),
    per_model: [...byModel]
      .map(([model, totals]) => ({ model, ...rounded(totals) }))
      .sort((a, b) => tokensOf(b) - tokensOf(a)),
    per_day: [...byDay].map(([day, totals]) => ({ day, ...rounded(totals) })),
  };
}

function zero(): Sums {
  return { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, cost: null };
}

function add(sums: Sums, bucket: UsageBucket): void {
  sums.input_tokens += bucket.input_tokens;
  sums.output_tokens += bucket.output_tokens;
  sums.cache_read_tokens += bucket.cache_read_tokens;
  sums.cache_write_tokens += bucket.cache_write_tokens;
  if (bucket.cost !== null) sums.cost = (sums.cost ?? 0) + bucket.cost;
}

/** A millionth of a dollar is exact enough, and hides what adding fractions leaves behind. */
function rounded(sums: Sums): Sums {
  return { ...sums, cost: sums.cost === null ? null : Math.round(sums.cost * 1e6) / 1e6 };
}

function tokensOf(totals: UsageTotals): number {
  return totals.input_tokens + totals.output_tokens + totals.cache_read_tokens + totals.cache_write_tokens;
}

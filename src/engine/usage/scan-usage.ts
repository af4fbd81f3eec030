import { type Static, Type } from "typebox";
import { openRecords, scanLines } from "../../lib/jsonl-scan.ts";
import { engineLimits } from "../engine-limits.ts";

const Count = Type.Integer({ minimum: 0 });
const modelChars = 200;
/** Days and models of one session; more would be a file made to fill the memory. */
const maxBuckets = 2_000;

/** Tokens and cost of one day (UTC) with one model. */
const UsageBucketSchema = Type.Object({
  day: Type.String(),
  model: Type.Union([Type.String(), Type.Null()]),
  input_tokens: Count,
  output_tokens: Count,
  cache_read_tokens: Count,
  cache_write_tokens: Count,
  /** In US dollars; null while no event named one. */
  cost: Type.Union([Type.Number(), Type.Null()]),
});
export type UsageBucket = Static<typeof UsageBucketSchema>;

/** What a transcript says of usage up to an offset, so that later only what was appended is read. */
export const SessionUsageSchema = Type.Object({
  id: Type.String(),
  /** Offset behind the last whole line that was read. */
  offset: Count,
  bytes: Count,
  mtime_ms: Type.Number(),
  /** The model at that offset. */
  model: Type.Union([Type.String(), Type.Null()]),
  buckets: Type.Array(UsageBucketSchema),
});
export type SessionUsage = Static<typeof SessionUsageSchema>;

const marks = ['"usage"', '"model_changed"', '"agent_started"'].map((mark) => Buffer.from(mark));

/** Reads the usage events that came since `known`, or all. Null when there is no such file. Memory: one line. */
export async function scanUsage(
  path: string,
  id: string,
  known: SessionUsage | null,
): Promise<SessionUsage | null> {
  const handle = await openRecords(path);
  if (!handle) return null;
  try {
    const { size, mtimeMs } = await handle.stat();
    const grown = known !== null && known.bytes < size ? known : null;
    const buckets = new Map((grown?.buckets ?? []).map((bucket) => [keyOf(bucket), { ...bucket }]));
    let model = grown?.model ?? null;
    const range = {
      from: grown?.offset ?? 0,
      to: size,
      maxLineBytes: engineLimits.transcriptLineBytes,
    };
    const offset = await scanLines(handle, range, (line) => {
      // Text inside of records has its quotes escaped, so few other lines are parsed.
      if (!marks.some((mark) => line.includes(mark))) return undefined;
      const record = parse(line);
      if (record?.type === "agent_started" || record?.type === "model_changed")
        model = typeof record.model === "string" ? record.model.slice(0, modelChars) : null;
      else if (record?.type === "usage") add(buckets, record, model);
      return undefined;
    });
    return { id, offset, bytes: size, mtime_ms: mtimeMs, model, buckets: [...buckets.values()] };
  } finally {
    await handle.close();
  }
}

function add(
  buckets: Map<string, UsageBucket>,
  record: Readonly<Record<string, unknown>>,
  model: string | null,
): void {
  const atMs = typeof record.at === "string" ? Date.parse(record.at) : Number.NaN;
  if (!Number.isFinite(atMs)) return;
  const day = new Date(atMs).toISOString().slice(0, 10);
  const key = keyOf({ day, model });
  const bucket = buckets.get(key) ?? {
    day,
    model,
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    cost: null,
  };
  if (!buckets.has(key) && buckets.size >= maxBuckets) return;
  bucket.input_tokens += count(record.input_tokens);
  bucket.output_tokens += count(record.output_tokens);
  bucket.cache_read_tokens += count(record.cache_read_tokens);
  bucket.cache_write_tokens += count(record.cache_write_tokens);
  const { cost } = record;
  if (typeof cost === "number" && cost >= 0 && cost < 1e9) bucket.cost = (bucket.cost ?? 0) + cost;
  buckets.set(key, bucket);
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value < 1e12 ? value : 0;
}

function keyOf(bucket: Pick<UsageBucket, "day" | "model">): string {
  return JSON.stringify([bucket.day, bucket.model]);
}

function parse(line: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    // A damaged line costs only itself.
    return null;
  }
}

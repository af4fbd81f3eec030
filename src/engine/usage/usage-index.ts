import { type Static, Type } from "typebox";
import { createChecker } from "../../lib/checker.ts";
import type { Usage } from "../../protocol/rest-objects.ts";
import { createCacheFile } from "../sessions/cache-file.ts";
import { coalesced, forEachBounded } from "../sessions/coalesce.ts";
import type { SessionIndex } from "../sessions/session-index.ts";
import { transcriptPath } from "../transcripts/transcript.ts";
import { type SessionUsage, SessionUsageSchema, scanUsage, type UsageBucket } from "./scan-usage.ts";
import { sumUsage } from "./sum-usage.ts";

const scansAtOnce = 4;

export interface UsageIndex {
  /** Tokens and cost of the last `days` days from all transcripts; only what was appended since the last look is read. */
  usage(days: number, nowMs: number): Promise<Usage>;
}

export interface UsageIndexOptions {
  readonly folder: string;
  readonly cachePath: string;
  readonly sessions: Pick<SessionIndex, "refresh" | "rows">;
  readonly report: (problem: string) => void;
}

const CacheSchema = Type.Object({ version: Type.Literal(1), sessions: Type.Array(SessionUsageSchema) });
/** One value with a row for each session: walked, it would take seconds. */
const cacheForm = createChecker(CacheSchema, { walks: 0 });

/** Reads nothing before it is asked; those who ask at once share one look. */
export function createUsageIndex(options: UsageIndexOptions): UsageIndex {
  const { folder, sessions } = options;
  let known = new Map<string, SessionUsage>();
  let loaded = false;
  const cache = createCacheFile<Static<typeof CacheSchema>>({
    path: options.cachePath,
    parse: (value) => (cacheForm.check(value) ? value : null),
    report: options.report,
  });

  const refresh = coalesced(async () => {
    if (!loaded) known = new Map((await cache.read())?.sessions.map((each) => [each.id, each]) ?? []);
    loaded = true;
    await sessions.refresh();
    const next = new Map<string, SessionUsage>();
    let changed = false;
    await forEachBounded(sessions.rows(), scansAtOnce, async (row) => {
      const before = known.get(row.id) ?? null;
      if (before && before.bytes === row.bytes && before.mtime_ms === row.mtime_ms) {
        next.set(row.id, before);
        return;
      }
      const found = await scanUsage(transcriptPath(folder, row.id), row.id, before).catch(() => before);
      changed = true;
      if (found) next.set(row.id, found);
    });
    changed ||= next.size !== known.size;
    known = next;
    if (changed) await cache.write({ version: 1, sessions: [...known.values()] });
  });

  function* buckets(): Generator<UsageBucket> {
    for (const session of known.values()) yield* session.buckets;
  }

  return {
    async usage(days, nowMs) {
      await refresh();
      return sumUsage(buckets(), nowMs, days);
    },
  };
}
